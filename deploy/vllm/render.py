"""Renders serving profiles: `python -m deploy.vllm.render serve|compose|kubernetes NAME…`, or `current`.

serve       the environment and command line of one profile
compose     docker-compose services of the profiles named SERVICE=PROFILE
kubernetes  Deployment, Service and NetworkPolicy of one profile
current     writes compose.gpu.yaml from compose.yaml
"""

import sys
from typing import Any

import yaml

from deploy.vllm.serving import HERE, Profile, load, names, shell

GATEWAY_IMAGE = "tellerline:0.1.0"
COMPOSE_FILE = HERE / "compose.gpu.yaml"
START_SECONDS = 600
LOGGING = {"driver": "json-file", "options": {"max-size": "10m", "max-file": "5"}}
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where the engine's processes exchange tensors
HEAD = (
    "# Rendered from deploy/vllm/compose.yaml by `python -m deploy.vllm.render current`: change the profiles instead.\n"
)


class _Plain(yaml.SafeDumper):
    """YAML without anchors: what repeats is written again."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the base signature
        return True


def _dump(document: dict[str, Any]) -> str:
    return yaml.dump(document, Dumper=_Plain, sort_keys=False, width=110, allow_unicode=True)


def _service(name: str, profile: Profile) -> dict[str, Any]:
    """A compose service. Reachable inside the compose network only: the key guards /v1 alone."""
    gpus = {"driver": "nvidia", "count": profile.hardware.count, "capabilities": ["gpu"]}
    return {
        "profiles": ["gpu"],
        "image": profile.image,
        "entrypoint": profile.command(),
        "environment": profile.env | {"VLLM_API_KEY": f"${{TELLERLINE_{name.upper()}_KEY:-}}"},
        "expose": [str(profile.port)],
        "ipc": "private",
        "shm_size": "8gb",
        "restart": "unless-stopped",
        "mem_limit": f"${{{name.upper()}_MEMORY:-48g}}",
        "pids_limit": 4096,
        "logging": LOGGING,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "volumes": ["models:/root/.cache/huggingface"],
        "deploy": {"resources": {"reservations": {"devices": [gpus]}}},
        "healthcheck": {
            "test": ["CMD", "curl", "-sf", f"http://127.0.0.1:{profile.port}/health"],
            "interval": "5s",
            "timeout": "3s",
            "retries": 3,
            "start_period": f"{START_SECONDS}s",
        },
    }


def _doctor(name: str, profile: Profile) -> dict[str, Any]:
    """A service that warms the endpoint once and tells what it really does."""
    return {
        "profiles": ["gpu"],
        "image": GATEWAY_IMAGE,
        "command": _doctor_args(f"http://{name}:{profile.port}", profile),
        "environment": {"TELLERLINE_DOCTOR_KEY": f"${{TELLERLINE_{name.upper()}_KEY:-}}"},
        "read_only": True,
        "tmpfs": ["/tmp"],  # noqa: S108 - the container's own
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "mem_limit": "1g",
        "pids_limit": 512,
        "logging": LOGGING,
        "healthcheck": {"disable": True},
        "depends_on": {name: {"condition": "service_healthy"}},
        "restart": "no",
    }


def _doctor_args(url: str, profile: Profile) -> list[str]:
    batch = profile.args.get("max-num-seqs", profile.args.get("max-running-requests", 16))
    return ["doctor", url, "--role", profile.role, "--batch", str(min(int(str(batch)), 16)), "--wait-s", "600"]


def compose(services: dict[str, str]) -> str:
    """docker-compose services for {service: profile}."""
    rendered: dict[str, Any] = {}
    for name, profile_name in services.items():
        profile = load(profile_name)
        rendered[name] = _service(name, profile)
        rendered[f"{name}-doctor"] = _doctor(name, profile)
    return _dump({"services": rendered, "volumes": {"models": None}})


def _container(profile: Profile) -> dict[str, Any]:
    resource = "google.com/tpu" if profile.hardware.tpu else "nvidia.com/gpu"
    key = {"name": "VLLM_API_KEY", "valueFrom": {"secretKeyRef": {"name": profile.name, "key": "api-key"}}}
    health = {"httpGet": {"path": "/health", "port": profile.port}}
    return {
        "name": "engine",
        "image": profile.image,
        "command": profile.command() + (["--api-key", "$(VLLM_API_KEY)"] if profile.engine == "sglang" else []),
        "env": [{"name": name, "value": value} for name, value in profile.env.items()] + [key],
        "ports": [{"containerPort": profile.port}],
        "resources": {"limits": {resource: profile.hardware.count}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "startupProbe": health | {"periodSeconds": 5, "failureThreshold": START_SECONDS // 5},
        "livenessProbe": health | {"periodSeconds": 10, "failureThreshold": 3},
        "volumeMounts": [{"name": "shm", "mountPath": SHARED_MEMORY}, *_config_mount(profile)],
    }


def _config_mount(profile: Profile) -> list[dict[str, Any]]:
    return [{"name": "engine", "mountPath": "/etc/engine"}] if profile.config else []


def _sidecar(profile: Profile) -> dict[str, Any]:
    """The doctor beside the engine: the pod is ready only once every batch size and prompt length was warmed."""
    args = _doctor_args(f"http://127.0.0.1:{profile.port}", profile)
    key = {"name": "TELLERLINE_DOCTOR_KEY", "valueFrom": {"secretKeyRef": {"name": profile.name, "key": "api-key"}}}
    return {
        "name": "doctor",
        "image": GATEWAY_IMAGE,
        "command": ["tellerline", *args, "--sidecar", "/ready/warm"],
        "env": [key],
        "readinessProbe": {"exec": {"command": ["python", "-c", "open('/ready/warm')"]}, "periodSeconds": 2},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "ready", "mountPath": "/ready"}],
    }


def kubernetes(name: str) -> str:
    """Deployment, Service and NetworkPolicy; a ConfigMap too where the engine reads a file."""
    profile = load(name)
    labels = {"app.kubernetes.io/name": profile.name, "app.kubernetes.io/part-of": "tellerline"}
    volumes: list[dict[str, Any]] = [
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        {"name": "ready", "emptyDir": {}},
    ]
    if profile.config:
        volumes.append({"name": "engine", "configMap": {"name": profile.name}})
    pod = {
        "automountServiceAccountToken": False,
        "containers": [_container(profile), _sidecar(profile)],
        "volumes": volumes,
        "nodeSelector": {"tellerline/accelerator": profile.hardware.accelerator},
    }
    meta = {"name": profile.name, "labels": labels}
    spec = {"selector": labels, "ports": [{"port": profile.port}]}
    documents: list[dict[str, Any]] = [
        _deployment(profile, meta, labels, pod),
        {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec},
        _policy(profile, meta, labels),
    ]
    if profile.config:
        data = {"config.yaml": _dump(profile.config)}
        documents.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})
    return "---\n".join(_dump(document) for document in documents)


def _deployment(profile: Profile, meta: dict[str, Any], labels: dict[str, str], pod: dict[str, Any]) -> dict[str, Any]:
    """One server, which has its card to itself: the old one ends before the next begins."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta | {"annotations": {"tellerline/profile": profile.title}},
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def _policy(profile: Profile, meta: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    """Only the gateway reaches the port: the API key guards /v1, not /invocations, /tokenize or /metrics."""
    gateway = {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "tellerline"}}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": meta,
        "spec": {
            "podSelector": {"matchLabels": labels},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [gateway], "ports": [{"port": profile.port}]}],
        },
    }


def current() -> str:
    """The content that compose.gpu.yaml should have."""
    return HEAD + compose(yaml.safe_load((HERE / "compose.yaml").read_text(encoding="utf-8"))["services"])


def main(arguments: list[str]) -> None:
    """The command line."""
    what, *rest = arguments or ["help"]
    known = names()
    if strange := [name for name in rest if name.rpartition("=")[2] not in known]:
        sys.exit(f"no profile {', '.join(strange)}: there are {', '.join(known)}")
    if what == "serve" and rest:
        print("\n".join(shell(load(name)) for name in rest))
    elif what == "compose" and rest and all("=" in pair for pair in rest):
        print(compose(dict(pair.split("=", 1) for pair in rest)), end="")
    elif what == "kubernetes" and rest:
        print("---\n".join(kubernetes(name) for name in rest), end="")
    elif what == "current":
        COMPOSE_FILE.write_text(current(), encoding="utf-8")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
