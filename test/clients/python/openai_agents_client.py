from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

import common
from common import API_KEY, BASE_URL, DEFAULT_MODEL, TOOLS_MODEL, run

set_tracing_disabled(True)


def model(name):
    return OpenAIChatCompletionsModel(model=name, openai_client=AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY))


async def answers():
    assert (await Runner.run(Agent(name="helper", model=model(DEFAULT_MODEL)), "Say hello.")).final_output


async def calls_a_tool():
    agent = Agent(name="helper", model=model(TOOLS_MODEL), tools=[function_tool(common.get_weather)])
    assert "18 degrees" in (await Runner.run(agent, "How is the weather in Paris?")).final_output


run("openai-agents", answers, calls_a_tool)
