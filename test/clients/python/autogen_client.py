from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient

import common
from common import API_KEY, BASE_URL, DEFAULT_MODEL, TOOLS_MODEL, run

INFO = {"vision": False, "function_calling": True, "json_output": False, "family": ModelFamily.UNKNOWN, "structured_output": False}


def client(model, **more):
    return OpenAIChatCompletionClient(model=model, base_url=BASE_URL, api_key=API_KEY, model_info=INFO, **more)


async def answers_as_an_agent():
    outcome = await AssistantAgent("helper", client(DEFAULT_MODEL, max_tokens=16)).run(task="Say hello.")
    assert outcome.messages[-1].content


async def calls_a_tool():
    agent = AssistantAgent("helper", client(TOOLS_MODEL), tools=[common.get_weather], reflect_on_tool_use=True)
    outcome = await agent.run(task="How is the weather in Paris?")
    assert "18 degrees" in outcome.messages[-1].content


async def talks_in_a_group():
    team = RoundRobinGroupChat(
        [AssistantAgent("ann", client(TOOLS_MODEL)), AssistantAgent("ben", client(TOOLS_MODEL))],
        termination_condition=MaxMessageTermination(4),
    )
    outcome = await team.run(task="Talk to each other.")
    assert len(outcome.messages) == 4


run("autogen-agentchat", answers_as_an_agent, calls_a_tool, talks_in_a_group)
