import os
import tempfile

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=tempfile.mkdtemp())

from mem0.configs.llms.openai import OpenAIConfig  # noqa: E402
from mem0.llms.openai import OpenAILLM  # noqa: E402


def asks_its_model():
    model = OpenAILLM(OpenAIConfig(model=TOOLS_MODEL, api_key=API_KEY, openai_base_url=BASE_URL))
    assert "Echo this" in model.generate_response([{"role": "user", "content": "Echo this"}])


run("mem0ai", asks_its_model)
