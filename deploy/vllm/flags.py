"""Writes down the flags that vLLM's own parsers know, so that drift is noticed where vLLM is not installed.

`python -m deploy.vllm.flags`, run in an environment with the pinned vLLM, writes flags/<command>-<version>.txt. It
needs no GPU.
"""

import argparse
from pathlib import Path

FLAGS = Path(__file__).parent / "flags"


def serve_parser() -> argparse.ArgumentParser:
    """The parser of `vllm serve`."""
    from vllm.entrypoints.openai.cli_args import make_arg_parser
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parser: argparse.ArgumentParser = make_arg_parser(FlexibleArgumentParser())
    return parser


def bench_parser() -> argparse.ArgumentParser:
    """The parser of `vllm bench serve`."""
    from vllm.benchmarks.serve import add_cli_args

    parser = argparse.ArgumentParser()
    add_cli_args(parser)
    return parser


def known(parser: argparse.ArgumentParser) -> list[str]:
    """Every long flag a parser takes, sorted."""
    options = {option for action in parser._actions for option in action.option_strings}  # noqa: SLF001 - no public list
    return sorted(option for option in options if option.startswith("--"))


def file_of(command: str, version: str) -> Path:
    """Where a command's flags are written down."""
    return FLAGS / f"{command}-{version}.txt"


def main() -> None:
    """Write both lists for the installed version."""
    import vllm

    FLAGS.mkdir(exist_ok=True)
    version = vllm.__version__.partition("+")[0]
    for command, parser in (("vllm-serve", serve_parser()), ("vllm-bench-serve", bench_parser())):
        file_of(command, version).write_text("\n".join(known(parser)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
