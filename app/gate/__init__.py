"""Before the application: what a connection may cost, whatever is sent over it: HTTP, WebSocket, plain or by TLS."""
