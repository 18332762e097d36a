"""A service that takes calls on every telephone, with a voice of tones that costs nothing: `python -m … MS_A_WORD`."""

import sys


def main() -> None:
    """Serve until told to stop."""
    import uvloop

    from app.serve import serve
    from tests.fakes.synthesizer import FakeSynthesizer

    uvloop.run(serve(synthesizer=FakeSynthesizer(int(sys.argv[1]))))


if __name__ == "__main__":
    main()
