"""The long-term door: what is kept across sessions, and the working memory of one, under /memory."""
