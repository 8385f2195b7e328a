"""llm-comply: answers and streams against the published schemas of Open Responses, OpenAI and Anthropic."""

import json
import subprocess
import sys

from common import API_KEY, BASE_URL, run

ANTHROPIC = ["--auth-header", "x-api-key", "--no-bearer", "-H", "anthropic-version:2023-06-01"]


def comply(api: str, model: str, *more: str):
    # It tests reasoning of models with certain names only: aliases of the scripted model.
    command = [sys.executable, "-m", "llm_comply.cli", "--json", "-u", BASE_URL, "-k", API_KEY]
    process = subprocess.run([*command, "-m", model, "--format", api, *more], capture_output=True, text=True)
    results = json.loads(process.stdout[process.stdout.index("{") :])["results"]
    failed = [(each["id"], each["errors"]) for each in results if each["status"] != "passed"]
    assert len(results) >= 9 and failed == [], failed


def complies_with_Open_Responses():
    comply("open-responses", "gpt-5-mini")


def complies_with_chat_completions():
    comply("openai-chat", "gpt-5-mini")


def complies_with_Anthropic_Messages():
    comply("anthropic", "claude-sonnet-4-5", *ANTHROPIC)


run("llm-comply", complies_with_Open_Responses, complies_with_chat_completions, complies_with_Anthropic_Messages)
