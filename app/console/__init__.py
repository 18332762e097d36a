"""The console: a page to talk to the service with one's own voice. Served in demo mode only."""
