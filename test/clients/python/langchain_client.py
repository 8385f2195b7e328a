from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

import common
from common import API_KEY, BASE_URL, DEFAULT_MODEL, TOOLS_MODEL, run


def model(name):
    return ChatOpenAI(model=name, base_url=BASE_URL, api_key=API_KEY)


def invokes():
    assert model(DEFAULT_MODEL).invoke("Say hello.", max_tokens=16).content


def streams():
    assert "".join(part.content for part in model(DEFAULT_MODEL).stream("Say hello.", max_tokens=16))


def calls_a_bound_tool():
    bound = model(TOOLS_MODEL).bind_tools([tool(common.get_weather)])
    answer = bound.invoke("How is the weather?")
    assert answer.tool_calls[0]["args"] == {"city": "Paris"}


def keeps_names_of_messages():
    answer = model(TOOLS_MODEL).invoke([HumanMessage("Hi", name="ann"), AIMessage("Hello", name="bot"), HumanMessage("Echo")])
    assert answer.content == "Echo"


run("langchain-openai", invokes, streams, calls_a_bound_tool, keeps_names_of_messages)
