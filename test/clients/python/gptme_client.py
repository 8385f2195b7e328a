import os
import subprocess
import sys
import tempfile

from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def answers_in_the_terminal():
    home = tempfile.mkdtemp()
    os.makedirs(f"{home}/.config/gptme")
    with open(f"{home}/.config/gptme/config.toml", "w") as config:
        config.write(f'[prompt]\n[env]\nMODEL = "local/{TOOLS_MODEL}"\nOPENAI_BASE_URL = "{BASE_URL}"\nOPENAI_API_KEY = "{API_KEY}"\n')
    command = [sys.executable, "-m", "gptme", "--non-interactive", "--no-confirm", "--tools", "none", "Echo this"]
    environment = {"PATH": os.environ["PATH"], "HOME": home}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL)
    assert "Echo this" in done.stdout.split("Assistant", 1)[-1], (done.stdout + done.stderr)[-800:]


run("gptme", answers_in_the_terminal)
