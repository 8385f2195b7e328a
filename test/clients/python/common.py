"""Shared by the scripts of this folder: where Parlance is, and a runner that reports each check as one JSON line."""

import asyncio
import importlib.metadata
import inspect
import json
import os
import socket
import sys
import traceback

BASE_URL = os.environ["PARLANCE_BASE_URL"]
# Ollama's clients take the address without a path, and send no key.
HOST = BASE_URL.removesuffix("/v1")
API_KEY = os.environ["PARLANCE_API_KEY"]
DEFAULT_MODEL = os.environ["PARLANCE_CHAT_MODEL"]
TOOLS_MODEL = "scripted-tools"


def get_weather(city: str) -> str:
    """Current weather of a city."""
    return f"18 degrees in {city}"


def open_store():
    """Vector store with one file about otters; the caller deletes it."""
    from openai import OpenAI

    client = OpenAI(base_url=BASE_URL, api_key=API_KEY)
    store = client.vector_stores.create(name="Animals")
    otters = ("otters.md", b"Otters swim in rivers.")
    added = client.vector_stores.files.upload_and_poll(vector_store_id=store.id, file=otters)
    assert added.status == "completed", added.last_error
    return store, lambda: client.vector_stores.delete(store.id)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(distribution: str, *checks) -> None:
    """Runs the checks in order, prints `{client, version, check, error}` for each, and exits with 1 if one failed."""
    version = importlib.metadata.version(distribution)
    failed = False
    for check in checks:
        error = None
        try:
            outcome = check()
            if inspect.isawaitable(outcome):
                asyncio.run(_await(outcome))
        except BaseException as failure:  # A client that calls sys.exit has failed, too.
            error = f"{type(failure).__name__}: {failure}"
            failed = True
            traceback.print_exc()
        name = check.__name__.replace("_", " ")
        print(json.dumps({"client": distribution, "version": version, "check": name, "error": error}), flush=True)
    sys.exit(1 if failed else 0)


async def _await(outcome):
    return await outcome
