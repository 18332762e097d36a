"""docker-compose.yml, Dockerfile, Prometheus, Grafana and HAProxy against each other and against the settings."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.server import GOODBYE_S
from app.settings import Settings, names, read_settings
from app.settings.read import OTHERS
from deploy.trial import dockerfile
from deploy.trial.compose import ComposeInvalid, Service, chosen, load, replaced, seconds

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
GIVEN = {"POSTGRES_PASSWORD": "secret-of-the-test"}
PROFILES = ("cpu", "gpu", "observability")
IMAGE = dockerfile.read(ROOT / "Dockerfile")[-1]
HAPROXY = (ROOT / "deploy/haproxy/haproxy.cfg").read_text()
GATEWAY_NAMES = ("gateway", "gateway-gpu")


@pytest.fixture(scope="module")
def services() -> dict[str, Service]:
    return load(FILE, GIVEN)


def lasting(services: dict[str, Service]) -> list[Service]:
    """Services that stay up."""
    return [one for one in services.values() if one.raw.get("restart") != "no"]


def test_a_setting_that_compose_or_the_image_names_exists(services: dict[str, Service]) -> None:
    known = {*names(), *OTHERS}
    named = set(re.findall(r"\b(TELLERLINE_[A-Z_]+|ASR_[A-Z_]+)\b", FILE.read_text()))
    named |= {name for one in services.values() for name in one.environment if name.startswith("TELLERLINE_")}
    named |= {name for name in IMAGE.environment({}) if name.startswith("TELLERLINE_")}
    assert len(named) > 8
    assert not named - known


@pytest.mark.parametrize("name", GATEWAY_NAMES)
def test_the_gateways_settings_are_taken(
    name: str, services: dict[str, Service], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for key, value in (IMAGE.environment({}) | dict(services[name].environment)).items():
        monkeypatch.setenv(key, value)
    read = read_settings()
    assert read.port in services[name].ports
    assert read.host == "0.0.0.0"
    assert read.database.startswith("postgresql+asyncpg://tellerline:secret-of-the-test@postgres/")
    assert bool(read.extraction_url) == bool(read.qna_url) == (name == "gateway-gpu")


def test_a_database_of_the_banks_own_goes_before_the_one_here() -> None:
    mine = GIVEN | {"TELLERLINE_DATABASE_URL": "postgresql://t@db.bank.example/t"}
    assert load(FILE, mine)["gateway"].environment["TELLERLINE_DATABASE_URL"] == "postgresql://t@db.bank.example/t"


def test_without_a_password_nothing_starts() -> None:
    with pytest.raises(ComposeInvalid, match=r"POSTGRES_PASSWORD: write POSTGRES_PASSWORD into \.env"):
        load(FILE, {})


def test_models_are_asked_where_they_are(services: dict[str, Service]) -> None:
    for setting, engine in (("EXTRACTION", "extraction"), ("QNA", "qna")):
        url = services["gateway-gpu"].environment[f"TELLERLINE_{setting}_URL"]
        (port,) = services[engine].ports
        assert url == f"http://{engine}:{port}/v1"
        words = services[engine].words
        assert words[words.index("--port") + 1] == str(port)
        default = Settings.model_fields[f"{setting.lower()}_model"].default
        assert words[words.index("--served-model-name") + 1] == default


def test_every_service_that_stays_has_a_health_check_that_asks_one_of_its_ports(services: dict[str, Service]) -> None:
    for one in lasting(services):
        check = one.health or (IMAGE.health if one.built else None)
        assert check is not None, one.name
        assert check.timeout_s <= 5
        assert check.interval_s <= 30
        asked = re.findall(r"127\.0\.0\.1[:/](\d+)", " ".join(check.test))
        assert {int(port) for port in asked} <= one.ports, one.name


def test_every_service_that_stays_comes_back_and_has_bounds(services: dict[str, Service]) -> None:
    for one in services.values():
        assert one.raw.get("mem_limit"), one.name
        assert one.raw["pids_limit"], one.name
        assert one.raw["logging"]["options"]["max-size"], one.name
    for one in lasting(services):
        assert one.raw["restart"] == "unless-stopped", one.name


def test_nobody_may_gain_rights_or_write_a_root(services: dict[str, Service]) -> None:
    for one in services.values():
        assert one.raw["cap_drop"] == ["ALL"], one.name
        assert one.raw["security_opt"] == ["no-new-privileges:true"], one.name
        if not one.image.startswith("vllm/"):  # it compiles kernels where it pleases
            assert one.raw["read_only"] is True, one.name
    user = IMAGE.last("USER")
    assert user is not None
    assert user.text == "10001:10001"
    assert {services[name].raw["user"] for name in ("postgres", "balancer")} == {"postgres", "haproxy"}


def test_what_the_read_only_gateway_writes_is_a_volume(services: dict[str, Service]) -> None:
    state = IMAGE.environment({})["TELLERLINE_STATE_DIR"]
    for name in GATEWAY_NAMES:
        assert f"state:{state}" in services[name].raw["volumes"]
        assert "/tmp" in services[name].raw["tmpfs"]
    volume = IMAGE.last("VOLUME")
    assert volume is not None
    assert volume.text == state


def test_calls_may_finish_before_a_gateway_is_killed(services: dict[str, Service]) -> None:
    longest = Settings.model_fields["drain_seconds"].default + GOODBYE_S + 5
    for name in (*GATEWAY_NAMES, "balancer"):
        assert services[name].grace_s > longest
    stop = IMAGE.last("STOPSIGNAL")
    assert stop is not None
    assert stop.text == "SIGTERM"


def test_a_second_gateway_takes_no_port_of_the_first(services: dict[str, Service]) -> None:
    """`--scale gateway=2`: what is published on the host, or named, could be there once."""
    for name in GATEWAY_NAMES:
        assert "ports" not in services[name].raw
        assert "container_name" not in services[name].raw
        assert "gateway" in services[name].names
    (server,) = re.findall(r"server-template gateway 1-(\d+) gateway:(\d+) resolvers names", HAPROXY)
    assert int(server[0]) >= 8
    assert int(server[1]) in services["gateway"].ports


def test_only_the_balancer_prometheus_and_grafana_are_published_and_to_this_machine(
    services: dict[str, Service],
) -> None:
    published = {one.name: one.raw["ports"] for one in services.values() if "ports" in one.raw}
    assert set(published) == {"balancer", "prometheus", "grafana"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_the_balancer_listens_where_compose_says(services: dict[str, Service]) -> None:
    assert {int(port) for port in re.findall(r"^  bind :(\d+)", HAPROXY, re.MULTILINE)} == services["balancer"].ports


def test_a_line_outlives_the_pings_that_keep_it(services: dict[str, Service]) -> None:
    """The gateway pings every 20 s: two may be lost."""
    (tunnel,) = re.findall(r"timeout tunnel (\S+)", HAPROXY)
    assert seconds(tunnel) > 40
    (hard,) = re.findall(r"hard-stop-after (\S+)", HAPROXY)
    assert Settings.model_fields["drain_seconds"].default + GOODBYE_S < seconds(hard) < services["balancer"].grace_s


def targets() -> list[tuple[str, int]]:
    """Everything that Prometheus asks: name and port."""
    found: list[tuple[str, int]] = []
    jobs: list[dict[str, Any]] = yaml.load((ROOT / "deploy/prometheus/prometheus.yml").read_text(), yaml.CSafeLoader)[
        "scrape_configs"
    ]
    for job in jobs:
        for group in job.get("static_configs", ()):
            found += [(name, int(port)) for name, port in (target.split(":") for target in group["targets"])]
        for group in job.get("dns_sd_configs", ()):
            found += [(name, group["port"]) for name in group["names"]]
    return found


def test_prometheus_asks_ports_that_somebody_listens_on(services: dict[str, Service]) -> None:
    listening = {(name, port) for one in services.values() for name in one.names for port in one.ports}
    assert set(targets()) <= listening
    assert {name for name, _ in targets()} == {"gateway", "balancer", "extraction", "qna"}


def test_grafana_asks_prometheus_and_finds_its_dashboards(services: dict[str, Service]) -> None:
    folder = ROOT / "deploy/grafana/provisioning"
    (source,) = yaml.load((folder / "datasources/prometheus.yaml").read_text(), yaml.CSafeLoader)["datasources"]
    (port,) = services["prometheus"].ports
    assert source["url"] == f"http://prometheus:{port}"
    (provider,) = yaml.load((folder / "dashboards/tellerline.yaml").read_text(), yaml.CSafeLoader)["providers"]
    mounted = [volume.split(":") for volume in services["grafana"].raw["volumes"]]
    here = {inside: ROOT / outside for outside, inside, *_ in mounted}
    assert list(here[provider["options"]["path"]].glob("*.json"))


def test_files_that_are_mounted_or_copied_are_there(services: dict[str, Service]) -> None:
    for one in services.values():
        for volume in one.raw.get("volumes", ()):
            outside = volume.partition(":")[0]
            assert not outside.startswith(".") or (ROOT / outside).exists(), volume
    for stage in dockerfile.read(ROOT / "Dockerfile"):
        for step in stage.steps:
            if step.name == "COPY" and "from" not in step.flags:
                assert all((ROOT / source).exists() for source in step.words[:-1]), step.text


@pytest.mark.parametrize("profile", [("cpu",), ("gpu",), ("cpu", "observability"), PROFILES])
def test_every_profile_starts_in_an_order(profile: tuple[str, ...], services: dict[str, Service]) -> None:
    order = list(chosen(services, profile))
    for name in order:
        assert all(order.index(other) < order.index(name) for other in services[name].needs)
    assert "gateway" in order or "gateway-gpu" in order


def test_what_a_service_waits_for_can_be_healthy(services: dict[str, Service]) -> None:
    for one in services.values():
        for other, condition in one.needs.items():
            assert condition != "service_healthy" or services[other].health is not None


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("${A}", "1"), ("${B:-x}", "x"), ("${A:-x}", "1"), ("${EMPTY:-x}", "x"), ("${EMPTY-x}", ""), ("$$A", "$A"),
        ("${B:-${A:-2}}", "1"), ("${B:-${C:-3}}", "3"), ("a${A}b${A}", "a1b1"), ("${B}", ""),
    ],
)  # fmt: skip
def test_variables_are_replaced_as_compose_does(text: str, meant: str) -> None:
    assert replaced({"a": [text]}, {"A": "1", "EMPTY": ""}) == {"a": [meant]}


def test_what_is_needed_and_not_there_is_named() -> None:
    one = load(FILE, GIVEN)["gateway"]
    with pytest.raises(ComposeInvalid, match="gateway needs"):
        chosen({"gateway": one}, ["cpu"])


def test_secrets_stay_out_of_the_repository_and_the_image() -> None:
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()
    assert ".env" in (ROOT / ".dockerignore").read_text().splitlines()
