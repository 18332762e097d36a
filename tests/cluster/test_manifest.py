"""The RayService manifest says what the code takes, and leaves no door open. `deploy/trial/pods.py` carries it out."""

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FILE = Path(__file__).parents[2] / "deploy/ray/rayservice.yaml"
LOCK = FILE.parents[1] / "lock/ray.txt"


def documents() -> dict[str, Any]:
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in yaml.safe_load_all(FILE.read_text("utf-8"))}


def service() -> dict[str, Any]:
    spec: dict[str, Any] = documents()["RayService/tellerline"]["spec"]
    return spec


def groups() -> dict[str, Any]:
    cluster = service()["rayClusterConfig"]
    return {"head": cluster["headGroupSpec"], **{one["groupName"]: one for one in cluster["workerGroupSpecs"]}}


def test_the_version_is_the_locks() -> None:
    assert f"ray=={service()['rayClusterConfig']['rayVersion']}" in LOCK.read_text("ascii").split()


def needed(package: str, extras: frozenset[str], found: set[str]) -> set[str]:
    """Everything that a package needs to be installed, by its normal name, itself among it."""
    found.add(package)
    for line in metadata.distribution(package).requires or ():
        one = Requirement(line)
        name = canonicalize_name(one.name)
        wanted = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras | {""})
        if wanted and name not in found:
            needed(name, frozenset(one.extras), found)
    return found


def test_what_ray_needs_stands_in_its_lock_or_the_services() -> None:
    pytest.importorskip("ray", reason="Ray is an extra: `make test-ray`")
    locks = (LOCK.read_text("ascii") + LOCK.with_name("runtime.txt").read_text("ascii")).splitlines()
    locked = {canonicalize_name(line.partition("==")[0]) for line in locks if "==" in line}
    assert needed("ray", frozenset({"serve"}), set()) <= locked


def test_ray_takes_the_applications_and_our_code_their_arguments() -> None:
    pytest.importorskip("ray", reason="Ray is an extra: `make test-ray`")
    from ray.serve.schema import ServeDeploySchema

    from app.cluster.deployments import GATEWAY, RECOGNIZER, Gateways, Recognizers, gateways, recognizers

    said = yaml.load(service()["serveConfigV2"], yaml.CSafeLoader)
    ServeDeploySchema.model_validate(said)
    args = {one["name"]: one["args"] for one in said["applications"]}
    names = {one["name"]: one["import_path"].partition(":")[2] for one in said["applications"]}
    assert names == {RECOGNIZER: recognizers.__name__, GATEWAY: gateways.__name__}
    hearing, ingress = Recognizers(**args[RECOGNIZER]), Gateways(**args[GATEWAY])
    recognizers(hearing)
    gateways(ingress)
    assert groups()["recognizers"]["minReplicas"] == hearing.least
    assert groups()["recognizers"]["maxReplicas"] == hearing.most
    assert groups()["gateways"]["maxReplicas"] == ingress.count
    assert groups()["gateways"]["template"]["spec"]["terminationGracePeriodSeconds"] > ingress.drain_seconds


def test_the_operators_metrics_leave_the_gateways_port_alone() -> None:
    for group in groups().values():
        ports = {one["name"]: one["containerPort"] for one in group["template"]["spec"]["containers"][0]["ports"]}
        assert group["rayStartParams"]["metrics-export-port"] == str(ports["metrics"])
        assert ports.get("calls") != ports["metrics"]


def test_each_kind_has_nodes_of_its_own() -> None:
    said = yaml.load(service()["serveConfigV2"], yaml.CSafeLoader)
    args = {one["name"]: one["args"] for one in said["applications"]}
    for name, group in (("gateway", "gateways"), ("recognizer", "recognizers")):
        offered = json.loads(json.loads(groups()[group]["rayStartParams"]["resources"]))
        assert offered == {args[name]["node"]: 1}
    assert args["gateway"]["apart"] is True


@pytest.mark.parametrize("group", ["head", "gateways", "recognizers"])
def test_every_pod_asks_for_the_token_and_has_no_rights(group: str) -> None:
    (container,) = groups()[group]["template"]["spec"]["containers"]
    told = {one["name"]: one for one in container["env"]}
    assert told["RAY_AUTH_MODE"]["value"] == "token"
    assert "secretKeyRef" in told["RAY_AUTH_TOKEN"]["valueFrom"]
    assert told["RAY_worker_niceness"]["value"] == told["RAY_USAGE_STATS_ENABLED"]["value"] == "0"
    assert container["securityContext"]["runAsNonRoot"] is True
    assert ("envFrom" in container) is (group == "gateways")


def test_ray_is_closed_to_all_but_its_own_pods_and_the_operator() -> None:
    rules = documents()["NetworkPolicy/tellerline-ray"]["spec"]["ingress"]
    assert all(rule["from"] for rule in rules)
    assert [rule["ports"] for rule in rules if "ports" in rule] == [[{"port": 8265}]]
    assert documents()["NetworkPolicy/tellerline-calls"]["spec"]["ingress"] == [{"ports": [{"port": 8080}]}]
