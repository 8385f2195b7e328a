import os
import pathlib
import subprocess
import sys
import tempfile

from common import API_KEY, BASE_URL, DEFAULT_MODEL, run


def prompts_from_the_command_line():
    with tempfile.TemporaryDirectory() as folder:
        entry = f"- model_id: parlance\n  model_name: {DEFAULT_MODEL}\n  api_base: {BASE_URL}\n  api_key_name: parlance\n"
        pathlib.Path(folder, "extra-openai-models.yaml").write_text(entry)
        command = [sys.executable, "-m", "llm", "-m", "parlance", "--key", API_KEY, "-o", "max_tokens", "16", "Say hello."]
        answer = subprocess.run(command, env={**os.environ, "LLM_USER_PATH": folder}, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL)
        assert answer.returncode == 0 and answer.stdout.strip(), answer.stderr


run("llm", prompts_from_the_command_line)
