"""In-memory fakes of the ports, for tests of what uses the gate."""
