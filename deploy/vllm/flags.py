"""What the engines' own parsers know, and whether they take what we hand them. Needs no GPU.

`python -m deploy.vllm.flags write` (with the pinned vLLM's Python)   writes flags/vllm-*.txt.xz
`python -m deploy.vllm.flags check` (with the pinned vLLM's Python)   parses every command we have; JSON to the screen
`python -m deploy.vllm.flags sglang WHEEL`                            writes flags/sglang-*.txt.xz of an unopened wheel

The lists are for where the engines are not installed: a flag that no list holds fails a test of the ordinary run.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import io
import json
import lzma
import sys
import zipfile
from pathlib import Path
from typing import Any

from deploy.vllm.serving import Profile, load, names
from deploy.vllm.sweep import plan

FLAGS = Path(__file__).parent / "flags"
SGLANG_ARGUMENTS = "sglang/srt/server_args.py"


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


def sglang_flags(source: str) -> list[str]:
    """Every long flag that SGLang's argument module adds, read from its source."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    adding = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"]
    said = {arg.value for call in adding for arg in call.args if isinstance(arg, ast.Constant)}
    return sorted(flag for flag in said if isinstance(flag, str) and flag.startswith("--"))


def file_of(command: str, version: str) -> Path:
    """Where a command's flags are written down."""
    return FLAGS / f"{command}-{version}.txt.xz"


def written(command: str, version: str) -> set[str]:
    """The flags that are written down of a command. Raises OSError for one of which there are none."""
    return set(lzma.decompress(file_of(command, version).read_bytes()).decode().split())


def _write(command: str, version: str, flags: list[str]) -> None:
    file_of(command, version).write_bytes(
        lzma.compress("".join(f"{flag}\n" for flag in flags).encode(), preset=9 | lzma.PRESET_EXTREME)
    )


def servers() -> dict[str, Profile]:
    """Every vLLM server we start anywhere: the profiles, the sweep's and the GPU session's."""
    from deploy.vllm.gpu import servers as gpu

    made = {name: load(name) for name in names()}
    for phase in plan.sweep().phases.values():
        made |= {f"sweep {phase.name} {server.name}": server.resolved() for server in phase.servers}
    made |= {f"session {name}": profile for name, profile in gpu.servers(Path("/payload"), Path("/out")).items()}
    return {name: profile for name, profile in made.items() if profile.engine == "vllm"}


def jobs() -> dict[str, list[str]]:
    """Every `vllm bench serve` of the sweep."""
    sweep = plan.sweep()
    every = [job for phase in sweep.phases.values() for s in phase.servers for job in plan.jobs(sweep.bench, phase, s)]
    return {job.key: job.argv("http://127.0.0.1:1", "m", "m", Path("out"), {job.schema_name: {}}) for job in every}


def parsed(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """The arguments as the parser reads them. Raises ValueError with what it says instead of ending the process."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return parser.parse_args(argv)
    except SystemExit:
        raise ValueError(said.getvalue()[-300:]) from None


def fault_of(parser: argparse.ArgumentParser, profile: Profile) -> str:
    """What vLLM says against a server's flags, or "". Every value must come out as it went in."""
    from vllm.config import SpeculativeConfig

    try:
        read = vars(parsed(parser, [profile.model, *profile.flags()]))
    except ValueError as fault:
        return str(fault)
    plain = {flag.replace("-", "_"): value for flag, value in profile.args.items() if not isinstance(value, dict)}
    changed = [flag for flag, value in plain.items() if read[flag] != value and str(read[flag]) != str(value)]
    wanted = profile.args.get("structured-outputs-config")
    if isinstance(wanted, dict):
        changed += [key for key, value in wanted.items() if getattr(read["structured_outputs_config"], key) != value]
    drafting: Any = profile.args.get("speculative-config") or {}
    fields = {field.name for field in dataclasses.fields(SpeculativeConfig)}
    return "; ".join(changed + [f"drafting knows no {key}" for key in drafting if key not in fields])


def check() -> dict[str, str]:
    """Every server and every benchmark command with what is wrong with it; "" where nothing is."""
    serve, bench = serve_parser(), bench_parser()
    found = {name: fault_of(serve, profile) for name, profile in servers().items()}
    for name, argv in jobs().items():
        try:
            parsed(bench, argv)
            found[f"bench {name}"] = ""
        except ValueError as fault:
            found[f"bench {name}"] = str(fault)
    return found


def vllm_version() -> str:
    """The installed vLLM's version without its build's suffix."""
    import vllm

    version: str = vllm.__version__
    return version.partition("+")[0]


def main(arguments: list[str]) -> None:
    """Run one of the three commands."""
    command, *rest = arguments or ["write"]
    if command == "sglang":
        (wheel,) = rest
        source = zipfile.ZipFile(wheel).read(SGLANG_ARGUMENTS).decode()
        version = Path(wheel).name.split("-")[1]
        _write("sglang", version, sglang_flags(source))
    elif command == "check":
        print(json.dumps({"version": vllm_version(), "faults": check()}))
    else:
        for name, parser in (("vllm-serve", serve_parser()), ("vllm-bench-serve", bench_parser())):
            _write(name, vllm_version(), known(parser))


if __name__ == "__main__":
    main(sys.argv[1:])
