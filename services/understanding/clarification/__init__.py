"""What has to be asked before an order is read back: which of two, how much, whether at all."""
