"""What words, numbers and names are read as, and which of them a command left unread."""
