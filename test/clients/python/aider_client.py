import os
import pathlib
import subprocess
import sys
import tempfile

from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def writes_the_file_that_it_was_asked_for():
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "OPENAI_API_BASE": BASE_URL, "OPENAI_API_KEY": API_KEY, "HOME": folder}
        command = [sys.executable, "-m", "aider", "--model", f"openai/{TOOLS_MODEL}", "--yes-always", "--no-git"]
        command += ["--no-check-update", "--analytics-disable", "--no-show-model-warnings", "--edit-format", "whole"]
        command += ["--message", "Write hello.py", "hello.py"]
        answer = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
        written = pathlib.Path(folder, "hello.py")
        assert written.exists() and "print" in written.read_text(), answer.stdout + answer.stderr


run("aider-chat", writes_the_file_that_it_was_asked_for)
