from agno.agent import Agent
from agno.models.openai.like import OpenAILike

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def calls_a_tool_as_an_agent():
    model = OpenAILike(id=TOOLS_MODEL, api_key=API_KEY, base_url=BASE_URL)
    agent = Agent(model=model, tools=[common.get_weather], telemetry=False)
    assert "18 degrees" in agent.run("How is the weather in Paris?").content


run("agno", calls_a_tool_as_an_agent)
