"""From words to meaning: by rules (`fast`), then what is mended, asked or offered, and a small model (`extraction`)."""
