"""What is due, what runs, what fell silent, and who is told of it."""
