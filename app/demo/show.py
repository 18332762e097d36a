"""How the demonstration shows a call: one readable line for each event that matters."""

from rich.console import Console
from rich.text import Text

from app.client import SOUND, Event
from schemas.money import Money


def _amount(event: Event) -> str:
    return str(Money(event["amount_minor"], event["currency"]))


def _partial(event: Event) -> Text:
    text, stable = event["text"], event["stable_chars"]
    return Text.assemble((text[:stable], "cyan"), (text[stable:], "dim cyan"))


def _spans(event: Event) -> str:
    return "   ".join(f"[{s['surface']}] {s['kind']} {s['value']} by {s['rule']}" for s in event["spans"]) or "none"


def _payees(event: Event) -> str:
    ranked = ", ".join(f"{c['name']} {c['score']:.2f}" for c in event["candidates"])
    return f"heard “{event['heard']}” → {event['outcome']}: {ranked or 'nobody'}"


def _decision(event: Event) -> str:
    missing = f", missing {', '.join(event['missing'])}" if event["missing"] else ""
    parts = (event["decision"], event["intent"], event["route"], event["rule"], f"{event['confidence']:.2f}")
    return " · ".join(str(part) for part in parts) + missing


def _readback(event: Event) -> str:
    step_up = ", step-up required" if event["step_up_required"] else ""
    return f"{_amount(event)} to {event['payee_id']}, payee check: {event['verification']}{step_up}"


def _timings(event: Event) -> str:
    stages = "  ".join(f"{name} {ms:.1f}" for name, ms in event["stages"].items())
    moments = "  ".join(f"{name} {ms:.0f}" for name, ms in event["moments"].items())
    return f"{stages} ms · from the last sound: {moments} ms"


def _voice(event: Event) -> str:
    """Whether replies of the call are spoken."""
    if event["session"]["output_modalities"] == ["audio"]:
        return "replies are spoken; the console plays them"
    return "replies are text: `make speech` brings a voice"


LINES = {
    "session.updated": ("voice", _voice),
    "tellerline.transcript.partial": ("partial", _partial),
    "conversation.item.input_audio_transcription.completed": ("caller", lambda e: Text(e["transcript"], "bold cyan")),
    "tellerline.spans": ("spans", _spans),
    "tellerline.payees": ("payees", _payees),
    "tellerline.decision": ("decision", _decision),
    "tellerline.readback": ("read-back", _readback),
    "tellerline.ledger": ("ledger", lambda e: f"{e['state']} {e['reference']} {e['reason']}".strip()),
    "tellerline.citations": ("sources", lambda e: ", ".join(c["title"] for c in e["citations"])),
    "response.output_text.done": ("teller", lambda e: Text(e["text"], "bold green")),
    "tellerline.handoff": ("hand-off", lambda e: e["reason"]),
    "tellerline.timings": ("timings", _timings),
    "error": ("error", lambda e: Text(f"{e['error']['code']}: {e['error']['message']}", "red")),
}


def show(console: Console, event: Event) -> None:
    """Print an event, if it is one that people want to see."""
    if event["type"] in LINES:
        name, describe = LINES[event["type"]]
        console.print(Text(f"  {name:>9}  ", "dim"), describe(event), sep="", end="\n", soft_wrap=True, markup=False)


class SpokenLength:
    """How much of a turn's reply was spoken."""

    def __init__(self) -> None:
        self._ms = 0.0

    def note(self, event: Event) -> None:
        """Take any event."""
        if event["type"] == SOUND:
            self._ms += event["duration_ms"]

    def show(self, console: Console) -> None:
        """Print it, where there was any."""
        if self._ms:
            console.print(Text.assemble((f"  {'spoken':>9}  ", "dim"), f"{self._ms / 1000:.1f} s"))
