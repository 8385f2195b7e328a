from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import common
from common import API_KEY, BASE_URL, DEFAULT_MODEL, TOOLS_MODEL, run


class Person(BaseModel):
    name: str
    age: int


def model(name):
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=BASE_URL, api_key=API_KEY))


async def answers():
    assert (await Agent(model(DEFAULT_MODEL), model_settings={"max_tokens": 16}).run("Say hello.")).output


async def calls_a_tool():
    outcome = await Agent(model(TOOLS_MODEL), tools=[common.get_weather]).run("How is the weather in Paris?")
    assert "18 degrees" in outcome.output


async def gives_typed_output():
    assert (await Agent(model(TOOLS_MODEL), output_type=Person).run("Jane is 41")).output.age == 41


async def streams():
    async with Agent(model(TOOLS_MODEL)).run_stream("Echo this") as stream:
        assert await stream.get_output() == "Echo this"


run("pydantic-ai-slim", answers, calls_a_tool, gives_typed_output, streams)
