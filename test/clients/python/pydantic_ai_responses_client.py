"""pydantic-ai with its model class for the Responses API."""

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run


class Person(BaseModel):
    name: str
    age: int


def model():
    return OpenAIResponsesModel(TOOLS_MODEL, provider=OpenAIProvider(base_url=BASE_URL, api_key=API_KEY))


async def calls_a_tool_by_responses():
    outcome = await Agent(model(), tools=[common.get_weather]).run("How is the weather in Paris?")
    assert "18 degrees" in outcome.output
    further = await Agent(model()).run("Echo this", message_history=outcome.all_messages())
    assert further.output == "Echo this"


async def gives_typed_output_by_responses():
    assert (await Agent(model(), output_type=Person).run("Jane is 41")).output.age == 41


async def streams_responses():
    async with Agent(model()).run_stream("Echo this") as stream:
        assert await stream.get_output() == "Echo this"


async def continues_from_previous_responses():
    settings = OpenAIResponsesModelSettings(openai_previous_response_id="auto")
    agent = Agent(model(), tools=[common.get_weather], model_settings=settings)
    outcome = await agent.run("How is the weather in Paris?")
    assert "18 degrees" in outcome.output
    assert (await agent.run("Echo this", message_history=outcome.all_messages())).output == "Echo this"


run(
    "pydantic-ai-slim",
    calls_a_tool_by_responses,
    gives_typed_output_by_responses,
    streams_responses,
    continues_from_previous_responses,
)
