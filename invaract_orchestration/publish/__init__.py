"""6. Make it visible, once: the intent, its preconditions and the port of the publisher."""
