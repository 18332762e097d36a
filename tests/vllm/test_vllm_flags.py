"""Every profile and every sweep command through vLLM's own parser; needs the pinned vLLM's Python, no GPU."""

import dataclasses
import json

import pytest

from deploy.vllm.flags import bench_parser, file_of, known, serve_parser
from deploy.vllm.serving import load, names

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("ignore")]
version = pytest.importorskip("vllm.version", reason="the pinned vLLM is not installed here")
VERSION = version.__version__.partition("+")[0]
PROFILES = [profile for profile in map(load, names()) if profile.engine == "vllm"]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_the_parser_takes_every_profile(profile) -> None:
    assert profile.engine_version == VERSION
    parsed = serve_parser().parse_args([profile.model, *profile.flags()])
    assert parsed.port == profile.port
    for flag, value in profile.args.items():
        if isinstance(value, (bool, int, float, str)):
            assert getattr(parsed, flag.replace("-", "_")) == value
    wanted = profile.args.get("structured-outputs-config")
    if wanted:
        assert (parsed.structured_outputs_config.backend, parsed.structured_outputs_config.disable_any_whitespace) == (
            wanted["backend"],
            wanted["disable_any_whitespace"],
        )


@pytest.mark.parametrize("profile", [p for p in PROFILES if "speculative-config" in p.args], ids=lambda p: p.name)
def test_drafting_options_exist(profile) -> None:
    from vllm.config import SpeculativeConfig

    fields = {field.name for field in dataclasses.fields(SpeculativeConfig)}
    assert set(profile.args["speculative-config"]) <= fields


@pytest.mark.parametrize(("command", "parser"), [("vllm-serve", serve_parser), ("vllm-bench-serve", bench_parser)])
def test_the_written_lists_are_current(command, parser) -> None:
    assert file_of(command, VERSION).read_text().split() == known(parser()), "run `python -m deploy.vllm.flags`"


def test_every_json_flag_is_json() -> None:
    for profile in PROFILES:
        for part in profile.flags():
            if part.startswith("{"):
                json.loads(part)
