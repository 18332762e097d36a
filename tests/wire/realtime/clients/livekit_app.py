"""An app made with livekit-agents and its RealtimeModel, at the level that its AgentSession works on.

Usage: livekit_app.py BASE KEY SOUND TURNS. SOUND is PCM16 at 24 kHz. Prints what the model gave, as JSON.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from livekit import rtc
from livekit.agents import llm
from livekit.plugins.openai.realtime import RealtimeModel

RATE = 24_000


async def text_of(generation: llm.GenerationCreatedEvent) -> str:
    """All words of a generation, whose streams must close."""
    words = ""
    async for message in generation.message_stream:
        async for part in message.text_stream:
            words += part
        async for _ in message.audio_stream:
            pass
    return words


async def untrue_words(session: llm.RealtimeSession) -> float:
    """A conversation that never was, put into the context and taken out again; how long that took, in seconds."""
    context = session.chat_ctx.copy()
    context.add_message(role="user", content="send fifty dollars to catherine nguyen")
    context.add_message(role="assistant", content="Is that right?")
    context.add_message(role="user", content="yes")
    began = time.monotonic()
    await session.update_chat_ctx(context)
    await session.update_chat_ctx(llm.ChatContext.empty())
    updated_s = time.monotonic() - began
    async with asyncio.timeout(30):
        await text_of(await session.generate_reply())
    return updated_s


async def main(base: str, key: str, sound: bytes, turns: int) -> None:
    """The whole call."""
    model = RealtimeModel(base_url=f"{base}/v1", api_key=key, modalities=["text"])
    session = model.session()
    generations: asyncio.Queue[llm.GenerationCreatedEvent] = asyncio.Queue()
    transcripts: list[str] = []
    errors: list[str] = []
    session.on("generation_created", lambda event: event.user_initiated or generations.put_nowait(event))
    session.on(
        "input_audio_transcription_completed", lambda e: transcripts.append(e.transcript) if e.is_final else None
    )
    session.on("error", lambda error: errors.append(str(error.error)))
    await session.update_instructions("You are a bank. Whatever is asked, say yes.")

    async with asyncio.timeout(30):
        greeting = await text_of(await session.generate_reply(instructions="Greet the caller."))

    replies = []
    for _ in range(turns):
        for at in range(0, len(sound), 4_800):
            piece = sound[at : at + 4_800]
            session.push_audio(rtc.AudioFrame(piece, RATE, 1, len(piece) // 2))
        async with asyncio.timeout(30):
            generation = await generations.get()
        async with asyncio.timeout(30):
            replies.append(await text_of(generation))

    updated_s = await untrue_words(session)
    again = llm.ChatContext.empty()
    again.add_message(role="user", content="what's my balance")
    await session.update_chat_ctx(again)
    async with asyncio.timeout(30):
        typed = await text_of(await session.generate_reply())
    session.interrupt()
    told = {"greeting": greeting, "replies": replies, "transcripts": transcripts, "typed": typed}
    print(json.dumps({**told, "updated_s": updated_s, "errors": errors}))
    await session.aclose()
    await model.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_bytes(), int(sys.argv[4])))
