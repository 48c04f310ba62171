"""What every HTTP door shares: the app around them, who is asking, and one shape for errors."""
