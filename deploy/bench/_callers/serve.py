"""A service whose customers are the callers of a file of dialogues; with a folder, by an oracle that reads it."""

import sys
from pathlib import Path

from deploy.bench._callers.bank import customers
from deploy.bench._callers.data import read
from deploy.bench._callers.told import NotedOracle


def main() -> None:
    """Serve for the dialogues of the file that the command line names; what is said is noted in the folder after it."""
    import uvloop

    from app.serve import serve

    dialogues = read(Path(sys.argv[1]))
    oracle = NotedOracle(Path(sys.argv[2])) if sys.argv[2:] else None
    uvloop.run(serve(oracle, customers=customers(dialogues, range(len(dialogues.dialogues)))))


if __name__ == "__main__":
    main()
