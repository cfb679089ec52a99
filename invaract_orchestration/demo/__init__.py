"""The demonstration: a year of real flights through the gate."""
