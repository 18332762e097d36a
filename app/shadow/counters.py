"""What is counted of a shadow."""

from prometheus_client import CollectorRegistry, Counter


class ShadowCounters:
    """Counters of one gateway's shadow. Labels hold names of values and reasons only."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.turns = Counter(
            "tellerline_shadow_turns", "Turns that went through both pipelines", ["result"], registry=registry
        )
        self.differs = Counter(
            "tellerline_shadow_differs", "Values that the other pipeline has otherwise", ["value"], registry=registry
        )
        self.left = Counter(
            "tellerline_shadow_left", "Calls that the other pipeline heard no more of", ["reason"], registry=registry
        )
