from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAITextEmbedding
from semantic_kernel.functions import kernel_function

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def client():
    """New for each check: each has an event loop of its own, which its connections end with."""
    return AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY)


class Weather:
    @kernel_function(name="get_weather")
    def get_weather(self, city: str) -> str:
        return common.get_weather(city)


async def answers_as_an_agent_with_a_plugin():
    service = OpenAIChatCompletion(ai_model_id=TOOLS_MODEL, async_client=client())
    agent = ChatCompletionAgent(service=service, name="helper", instructions="Help.", plugins=[Weather()])
    assert str(await agent.get_response("Echo this")) == "Echo this"


async def embeds():
    service = OpenAITextEmbedding(ai_model_id="text-embedding-3-small", async_client=client())
    assert len((await service.generate_embeddings(["A cat."]))[0]) == 384


run("semantic-kernel", answers_as_an_agent_with_a_plugin, embeds)
