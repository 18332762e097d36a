"""`python -m app.cli`, where the console script is not at hand."""

from app.cli import run

if __name__ == "__main__":
    run()
