"""One turn of a chat: an order or a question, what the answer stands on, the reply as it is said and stored."""
