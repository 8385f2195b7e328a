"""Phoenix with its data in a temporary folder. Serves until its standard input closes."""

import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from common import free_port

FOLDER = tempfile.TemporaryDirectory(prefix="phoenix-")
PORT = free_port()
URL = f"http://127.0.0.1:{PORT}"
LOG = Path(f"{FOLDER.name}/log")
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": FOLDER.name,
    "PHOENIX_WORKING_DIR": FOLDER.name,
    "PHOENIX_HOST": "127.0.0.1",
    "PHOENIX_PORT": str(PORT),
    "PHOENIX_GRPC_PORT": str(free_port()),
    "PHOENIX_TELEMETRY_ENABLED": "false",
    "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
}


def start():
    """Returns the process once it answers; starting takes up to a minute."""
    command = [f"{Path(sys.executable).parent}/phoenix", "serve"]
    process = subprocess.Popen(
        command, env=ENVIRONMENT, cwd=FOLDER.name, stdout=LOG.open("w"), stderr=subprocess.STDOUT
    )
    for _ in range(180):
        try:
            with urllib.request.urlopen(f"{URL}/healthz", timeout=2):
                return process
        except (urllib.error.URLError, TimeoutError):
            time.sleep(1)
        if process.poll() is not None:
            break
    process.kill()
    raise RuntimeError(LOG.read_text()[-4000:])


served = start()
try:
    print(URL, flush=True)
    sys.stdin.read()
finally:
    served.terminate()
    served.wait(60)
