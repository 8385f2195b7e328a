from ag2 import Agent, tool
from ag2.config import OpenAIConfig

from common import API_KEY, BASE_URL, TOOLS_MODEL, get_weather, run


def helper(**options) -> Agent:
    config = OpenAIConfig(model=TOOLS_MODEL, base_url=BASE_URL, api_key=API_KEY, **options)
    return Agent("helper", config=config, tools=[tool(get_weather)])


async def answers_as_an_agent():
    assert (await helper().ask("Echo this")).body == "Echo this"


async def streams():
    assert (await helper(streaming=True).ask("Echo this")).body == "Echo this"


async def calls_a_tool_and_answers_with_its_result():
    assert "18 degrees" in (await helper().ask("How is the weather in Paris?")).body


run("ag2", answers_as_an_agent, streams, calls_a_tool_and_answers_with_its_result)
