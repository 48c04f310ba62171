"""Finding it again: from a question to ranked hits, and what is noted about having found them."""
