import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

COMMAND = Path(sys.executable).parent / "letta"


def answers_in_the_terminal():
    with tempfile.TemporaryDirectory() as home:

        def letta(*parameters: str) -> str:
            environment = {"PATH": os.environ["PATH"], "HOME": home}
            done = subprocess.run([COMMAND, *parameters], cwd=home, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        letta("backend", "local")
        letta("connect", "openai-compatible", "--base-url", BASE_URL, "--api-key", API_KEY)
        answer = letta("--new-agent", "--model", f"openai-compatible/{TOOLS_MODEL}", "-p", "Echo this")
        assert "Echo this" in answer, answer


run("letta", answers_in_the_terminal)
