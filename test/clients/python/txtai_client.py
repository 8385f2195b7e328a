import os

os.environ.update(HF_HUB_OFFLINE="1")

from txtai.pipeline import LLM  # noqa: E402

from common import API_KEY, BASE_URL, TOOLS_MODEL, run  # noqa: E402

QUESTION = [{"role": "user", "content": "Echo this"}]


def model() -> LLM:
    return LLM(f"openai/{TOOLS_MODEL}", api_base=BASE_URL, api_key=API_KEY)


def answers():
    assert model()(QUESTION) == "Echo this"


def streams():
    assert "".join(model()(QUESTION, stream=True)) == "Echo this"


run("txtai-minimal", answers, streams)
