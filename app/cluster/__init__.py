"""One machine too small: gateways and recognisers as Ray Serve deployments. The only place that knows Ray."""

import os

# Read by Ray as it is imported: nothing is told to anyone outside, and a cluster of our own is on loopback alone.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # noqa: TID251
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # noqa: TID251
# What gateways log is passed on as it is, none of it left out for being like another line.
os.environ.setdefault("RAY_DEDUP_LOGS", "0")  # noqa: TID251
os.environ.setdefault("RAY_COLOR_PREFIX", "0")  # noqa: TID251
# How often Serve looks after its replicas: ten times a second takes more of a core than all else of Ray.
os.environ.setdefault("RAY_SERVE_CONTROL_LOOP_INTERVAL_S", "0.5")  # noqa: TID251
