from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.llm import OpenAILLMService

from common import API_KEY, BASE_URL, TOOLS_MODEL, run


async def answers_in_a_pipeline():
    service = OpenAILLMService(model=TOOLS_MODEL, base_url=BASE_URL, api_key=API_KEY)
    text = await service.run_inference(LLMContext([{"role": "user", "content": "Echo this"}]))
    assert "Echo this" in text


run("pipecat-ai", answers_in_a_pipeline)
