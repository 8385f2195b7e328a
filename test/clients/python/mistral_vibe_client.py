import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

COMMAND = Path(sys.executable).parent / "vibe"
CONFIG = f"""
active_model = "parlance"

[[providers]]
name = "parlance"
api_base = "{BASE_URL}"
api_key_env_var = "PARLANCE_KEY"

[[models]]
name = "{TOOLS_MODEL}"
provider = "parlance"
alias = "parlance"
"""


def answers_with_its_tools_and_instructions():
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, ".vibe")
        folder.mkdir()
        Path(folder, "config.toml").write_text(CONFIG)
        environment = {"PATH": os.environ["PATH"], "HOME": home, "PARLANCE_KEY": API_KEY}
        command = [COMMAND, "--trust", "-p", "Echo this"]
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "Echo this" in done.stdout, done.stdout


run("mistral-vibe", answers_with_its_tools_and_instructions)
