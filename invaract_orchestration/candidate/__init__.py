"""3. What is about to be published: the candidate, its plan, and the table it is meant for."""
