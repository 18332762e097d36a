"""The one door for money: seal, ledger, limits, step-up, reconciliation, and the bank behind them."""
