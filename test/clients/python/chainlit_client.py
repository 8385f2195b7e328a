import asyncio
import os
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import socketio
from socketio.exceptions import ConnectionError

from common import API_KEY, BASE_URL, TOOLS_MODEL, free_port, run

COMMAND = Path(sys.executable).parent / "chainlit"
APPLICATION = f"""
import chainlit
from openai import AsyncOpenAI

client = AsyncOpenAI()


@chainlit.on_message
async def answer(message: chainlit.Message):
    reply = chainlit.Message(content="")
    messages = [{{"role": "user", "content": message.content}}]
    async for chunk in await client.chat.completions.create(model="{TOOLS_MODEL}", messages=messages, stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            await reply.stream_token(chunk.choices[0].delta.content)
    await reply.update()
"""


async def connect(url: str) -> socketio.AsyncSimpleClient:
    """Connects as the page does. The application says that it is available shortly before it listens."""
    auth = {"sessionId": str(uuid.uuid4()), "clientType": "webapp", "userEnv": "{}"}
    while True:
        page = socketio.AsyncSimpleClient()
        try:
            await page.connect(url, socketio_path="ws/socket.io", auth=auth, transports=["websocket"])
            return page
        except ConnectionError:
            await asyncio.sleep(0.1)


async def converse(url: str, text: str) -> str:
    """Sends a message as the page does, and returns the last text of the answer."""
    page = await connect(url)
    try:
        await page.emit("connection_successful")
        step = {"id": str(uuid.uuid4()), "name": "user", "type": "user_message", "output": text, "createdAt": None}
        await page.emit("client_message", {"message": step, "fileReferences": []})
        while True:
            name, *content = await page.receive()
            if name == "update_message" and content[0]["type"] == "assistant_message":
                return content[0]["output"]
    finally:
        await page.disconnect()


async def streams_in_its_chat_page():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "app.py").write_text(APPLICATION)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "OPENAI_BASE_URL": BASE_URL, "OPENAI_API_KEY": API_KEY}
        port = free_port()
        command = [COMMAND, "run", "app.py", "--headless", "--port", str(port)]
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as server:
            try:
                next(line for line in server.stdout if "is available at" in line)
                answer = await converse(f"http://127.0.0.1:{port}", "Echo this")
                assert answer == "Echo this", answer
            finally:
                server.terminate()


run("chainlit", streams_in_its_chat_page)
