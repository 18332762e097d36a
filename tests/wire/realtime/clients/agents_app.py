"""An app made with the OpenAI Agents SDK in Python.

Usage: agents_app.py BASE KEY SOUND TURNS. SOUND is PCM16 at 24 kHz. Prints what the app saw, as JSON.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path

from agents.realtime import RealtimeAgent, RealtimeRunner, RealtimeSession


class App:
    """Listens to a session."""

    def __init__(self, session: RealtimeSession) -> None:
        self.session = session
        self.kinds: Counter[str] = Counter()
        self.raw: Counter[str] = Counter()
        self.errors: list[str] = []
        self.history: list[object] = []

    async def listen(self) -> None:
        """Note every event."""
        async for event in self.session:
            self.kinds[event.type] += 1
            if event.type == "error":
                self.errors.append(str(event.error))
            if event.type == "history_updated":
                self.history = event.history
            if event.type == "raw_model_event" and event.data.type == "raw_server_event":
                self.raw[event.data.data["type"]] += 1

    def said(self, role: str) -> list[str]:
        """What a side of the conversation said, as the history has it."""
        found = [item for item in self.session._history if getattr(item, "role", "") == role]
        words = [getattr(part, "transcript", None) or getattr(part, "text", None) for i in found for part in i.content]
        return [word for word in words if word]

    async def until(self, true) -> None:
        """Wait for it."""
        ends = time.monotonic() + 60
        while not true():
            if time.monotonic() > ends:
                raise TimeoutError(f"{self.kinds} {self.raw} {self.errors}")
            await asyncio.sleep(0.02)


async def main(base: str, key: str, sound: bytes, turns: int) -> None:
    """The whole call."""
    agent = RealtimeAgent(name="teller", instructions="You are a bank. Whatever is asked, say yes.")
    url = f"{base.replace('http', 'ws', 1)}/v1/realtime?model=gpt-realtime"
    async with await RealtimeRunner(agent).run(model_config={"api_key": key, "url": url}) as session:
        app = App(session)
        listening = asyncio.create_task(app.listen())
        for turn in range(turns):
            for at in range(0, len(sound), 4_800):
                await session.send_audio(sound[at : at + 4_800])
            await app.until(lambda turn=turn: app.raw["response.done"] == turn + 1)
        await app.until(lambda: len(app.said("user")) == turns)
        await session.send_message("what's my balance")
        await app.until(lambda: app.raw["response.done"] == turns + 1)
        await session.interrupt()
        await asyncio.sleep(0.5)
        print(
            json.dumps(
                {
                    "users": app.said("user"),
                    "replies": app.said("assistant"),
                    "errors": app.errors,
                    "turns_ended": app.kinds["agent_end"],
                }
            )
        )
        listening.cancel()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_bytes(), int(sys.argv[4])))
