from haystack.components.agents import Agent
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run

KEY = Secret.from_token(API_KEY)


def generator():
    return OpenAIChatGenerator(model=TOOLS_MODEL, api_key=KEY, api_base_url=BASE_URL)


def chats():
    assert generator().run([ChatMessage.from_user("Echo this")])["replies"][0].text == "Echo this"


def calls_a_tool_as_an_agent():
    agent = Agent(chat_generator=generator(), tools=[create_tool_from_function(common.get_weather)])
    outcome = agent.run(messages=[ChatMessage.from_user("How is the weather in Paris?")])
    assert "18 degrees" in outcome["last_message"].text


def embeds():
    embedder = OpenAITextEmbedder(model="text-embedding-3-small", api_key=KEY, api_base_url=BASE_URL)
    assert len(embedder.run("A cat.")["embedding"]) == 384


run("haystack-ai", chats, calls_a_tool_as_an_agent, embeds)
