"""7. Leave a trail: the append-only record of every attempt, and the results that people and programs read."""
