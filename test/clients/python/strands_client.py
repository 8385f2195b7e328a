from strands import Agent, tool
from strands.models.openai import OpenAIModel

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def calls_a_tool_as_an_agent():
    model = OpenAIModel(client_args={"api_key": API_KEY, "base_url": BASE_URL}, model_id=TOOLS_MODEL)
    agent = Agent(model=model, tools=[tool(common.get_weather)], callback_handler=None)
    assert "18 degrees" in str(agent("How is the weather in Paris?"))


run("strands-agents", calls_a_tool_as_an_agent)
