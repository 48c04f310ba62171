"""What travels through the native door: one module for each of its parts."""
