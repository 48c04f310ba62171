"""What was said, word for word, and what a session is about while it lasts; reading it for what is worth remembering."""
