"""The parts of a gateway, each made of what the settings say of it; `app.bootstrap` puts them together."""
