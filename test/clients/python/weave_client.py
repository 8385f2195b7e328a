import os

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

os.environ.update(WEAVE_DISABLED="true", WANDB_MODE="offline")

import weave  # noqa: E402
from openai import OpenAI  # noqa: E402


def traces_a_chat():
    @weave.op()
    def ask(text: str) -> str:
        messages = [{"role": "user", "content": text}]
        completion = OpenAI(base_url=BASE_URL, api_key=API_KEY).chat.completions.create(model=TOOLS_MODEL, messages=messages)
        return completion.choices[0].message.content

    assert "Echo this" in ask("Echo this")


run("weave", traces_a_chat)
