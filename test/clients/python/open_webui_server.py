"""Open WebUI with its data in a temporary folder. As a script, it serves until its standard input closes."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from common import API_KEY, BASE_URL, free_port

FOLDER = tempfile.TemporaryDirectory(prefix="open-webui-")
PORT = free_port()
ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "HOME": FOLDER.name,
    "DATA_DIR": f"{FOLDER.name}/data",
    "WEBUI_AUTH": "false",
    "WEBUI_SECRET_KEY": "secret",
    "ENABLE_PERSISTENT_CONFIG": "false",
    "ENABLE_OLLAMA_API": "false",
    "OFFLINE_MODE": "true",
    "HF_HUB_OFFLINE": "1",
    "OPENAI_API_BASE_URL": BASE_URL,
    "OPENAI_API_KEY": API_KEY,
    "RAG_EMBEDDING_ENGINE": "openai",
    "RAG_EMBEDDING_MODEL": "text-embedding-3-small",
    "RAG_OPENAI_API_BASE_URL": BASE_URL,
    "RAG_OPENAI_API_KEY": API_KEY,
    "AUDIO_TTS_ENGINE": "openai",
    "AUDIO_TTS_OPENAI_API_BASE_URL": BASE_URL,
    "AUDIO_TTS_OPENAI_API_KEY": API_KEY,
    "AUDIO_STT_ENGINE": "openai",
    "AUDIO_STT_MODEL": "whisper-1",
    "AUDIO_STT_OPENAI_API_BASE_URL": BASE_URL,
    "AUDIO_STT_OPENAI_API_KEY": API_KEY,
}
URL = f"http://127.0.0.1:{PORT}"
LOG = Path(f"{FOLDER.name}/log")


def start():
    """Returns the process once it answers; starting takes up to a minute."""
    command = [f"{Path(sys.executable).parent}/open-webui", "serve", "--host", "127.0.0.1", "--port", str(PORT)]
    process = subprocess.Popen(
        command, env=ENVIRONMENT, cwd=FOLDER.name, stdout=LOG.open("w"), stderr=subprocess.STDOUT
    )
    for _ in range(900):
        try:
            if httpx.get(f"{URL}/health", timeout=2).status_code == 200:
                return process
        except httpx.HTTPError:
            time.sleep(1)
        if process.poll() is not None:
            break
    process.kill()
    raise RuntimeError(LOG.read_text()[-4000:])


def stop(process):
    process.terminate()
    process.wait(60)


if __name__ == "__main__":
    served = start()
    try:
        print(URL, flush=True)
        sys.stdin.read()
    finally:
        stop(served)
