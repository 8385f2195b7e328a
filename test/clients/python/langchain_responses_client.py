"""LangChain's ChatOpenAI through the Responses API."""

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def model(**settings):
    return ChatOpenAI(model=TOOLS_MODEL, base_url=BASE_URL, api_key=API_KEY, use_responses_api=True, **settings)


def invokes_responses():
    assert model().invoke("Echo this").text == "Echo this"


def streams_responses():
    assert "".join(part.text for part in model().stream("Echo this")) == "Echo this"


def calls_a_tool_by_responses():
    bound = model().bind_tools([tool(common.get_weather)])
    question = HumanMessage("How is the weather in Paris?")
    asked = bound.invoke([question])
    [call] = asked.tool_calls
    assert call["args"] == {"city": "Paris"}
    answer = bound.invoke([question, asked, ToolMessage("18 degrees", tool_call_id=call["id"])])
    assert "18 degrees" in answer.text


def continues_from_previous_responses():
    continuing = model(use_previous_response_id=True)
    first = continuing.invoke([HumanMessage("Remember this")])
    second = continuing.invoke([HumanMessage("Remember this"), first, HumanMessage("Echo this")])
    assert second.text == "Echo this"


def searches_files():
    store, delete_store = common.open_store()
    bound = model(include=["file_search_call.results"]).bind_tools(
        [{"type": "file_search", "vector_store_ids": [store.id], "max_num_results": 1}]
    )
    answer = bound.invoke("Where do otters swim?")
    assert answer.text.startswith("Otters swim in rivers"), answer
    [text] = [block for block in answer.content_blocks if block["type"] == "text"]
    assert text["annotations"][0]["title"] == "otters.md", text
    parts = list(bound.stream("Where do otters swim?"))
    assert "".join(part.text for part in parts).startswith("Otters swim in rivers"), parts
    delete_store()


run(
    "langchain-openai",
    invokes_responses,
    streams_responses,
    calls_a_tool_by_responses,
    continues_from_previous_responses,
    searches_files,
)
