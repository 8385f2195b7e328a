import asyncio
import os
import subprocess
import sys

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.tts import Synthesize

from common import API_KEY, BASE_URL, free_port, run

TEXT = "The weather is fine today."


async def connect(port: int) -> AsyncTcpClient:
    client = AsyncTcpClient("127.0.0.1", port)
    while True:
        try:
            await client.connect()
            return client
        except ConnectionRefusedError:
            await asyncio.sleep(0.1)


async def speak(port: int) -> list[AudioChunk]:
    async with await connect(port) as client:
        await client.write_event(Synthesize(text=TEXT).event())
        chunks = []
        while (event := await client.read_event()) is not None and not AudioStop.is_type(event.type):
            if AudioChunk.is_type(event.type):
                chunks.append(AudioChunk.from_event(event))
        return chunks


async def transcribe(port: int, chunks: list[AudioChunk]) -> str:
    async with AsyncTcpClient("127.0.0.1", port) as client:
        await client.write_event(Transcribe(language="en").event())
        first = chunks[0]
        await client.write_event(AudioStart(rate=first.rate, width=first.width, channels=first.channels).event())
        for chunk in chunks:
            await client.write_event(chunk.event())
        await client.write_event(AudioStop().event())
        while (event := await client.read_event()) is not None:
            if Transcript.is_type(event.type):
                return Transcript.from_event(event).text
        raise AssertionError("no transcript")


async def converse() -> str:
    port = free_port()
    environment = {
        **{"PATH": os.environ["PATH"], "WYOMING_URI": f"tcp://127.0.0.1:{port}", "WYOMING_LANGUAGES": "en"},
        **{"STT_OPENAI_URL": BASE_URL, "STT_OPENAI_KEY": API_KEY, "STT_MODELS": "whisper-1"},
        **{"TTS_OPENAI_URL": BASE_URL, "TTS_OPENAI_KEY": API_KEY, "TTS_MODELS": "tts-1", "TTS_VOICES": "alloy"},
    }
    command = [sys.executable, "-m", "wyoming_openai"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            return await transcribe(port, await speak(port))
        finally:
            server.terminate()


def speaks_and_transcribes():
    text = asyncio.run(asyncio.wait_for(converse(), 120))
    assert "weather is fine" in text.lower(), text


run("wyoming-openai", speaks_and_transcribes)
