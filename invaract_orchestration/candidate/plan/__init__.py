"""The engine-free form of a transformation: its nodes, what they assert, and where each column comes from."""
