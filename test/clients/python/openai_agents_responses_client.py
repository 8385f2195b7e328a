"""openai-agents with its default model class, which speaks the Responses API."""

from agents import (
    Agent,
    FileSearchTool,
    HostedMCPTool,
    OpenAIConversationsSession,
    Runner,
    SQLiteSession,
    function_tool,
    set_default_openai_client,
    set_tracing_disabled,
)
from agents.memory import OpenAIResponsesCompactionSession
from openai import AsyncOpenAI

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run

set_tracing_disabled(True)


def agent(**settings):
    # Each check has an event loop of its own, and so needs a client of its own.
    set_default_openai_client(AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY), use_for_tracing=False)
    return Agent(name="helper", model=TOOLS_MODEL, **settings)


def with_weather():
    return agent(tools=[function_tool(common.get_weather)])


async def calls_a_tool_by_responses():
    assert "18 degrees" in (await Runner.run(with_weather(), "How is the weather in Paris?")).final_output


async def streams_responses():
    outcome = Runner.run_streamed(with_weather(), "How is the weather in Paris?")
    types = [event.data.type async for event in outcome.stream_events() if event.type == "raw_response_event"]
    assert "18 degrees" in outcome.final_output
    assert "response.function_call_arguments.delta" in types and types[-1] == "response.completed"


async def continues_from_previous_responses():
    outcome = await Runner.run(with_weather(), "How is the weather in Paris?", auto_previous_response_id=True)
    assert "18 degrees" in outcome.final_output
    further = await Runner.run(agent(), "Echo this", previous_response_id=outcome.last_response_id)
    assert further.final_output == "Echo this"


async def keeps_a_session_in_a_conversation():
    helper = with_weather()
    session = OpenAIConversationsSession()
    assert "18 degrees" in (await Runner.run(helper, "How is the weather in Paris?", session=session)).final_output
    assert (await Runner.run(helper, "Echo this", session=session)).final_output == "Echo this"
    items = await session.get_items()
    assert [item.get("role", item["type"]) for item in items] == [
        *["user", "function_call", "function_call_output", "assistant"],
        *["user", "assistant"],
    ]
    await session.clear_session()


def with_forecast(require_approval, on_approval_request=None):
    config = {"type": "mcp", "server_label": "forecast", "require_approval": require_approval}
    return agent(tools=[HostedMCPTool(tool_config=config, on_approval_request=on_approval_request)])


async def calls_tools_of_mcp_servers():
    outcome = Runner.run_streamed(with_forecast("never"), "Read the forecast.")
    types = [event.data.type async for event in outcome.stream_events() if event.type == "raw_response_event"]
    assert "18 degrees" in outcome.final_output
    assert "response.mcp_call.completed" in types and types[-1] == "response.completed"


async def approves_calls_of_mcp_servers():
    asked = []

    def approve(request):
        asked.append(request.data.name)
        return {"approve": True}

    outcome = await Runner.run(with_forecast("always", approve), "Read the forecast.")
    assert "18 degrees" in outcome.final_output and asked == ["get_weather"]


async def resumes_after_an_approval():
    outcome = await Runner.run(with_forecast("always"), "Read the forecast.")
    state = outcome.to_state()
    for interruption in outcome.interruptions:
        state.approve(interruption)
    assert "18 degrees" in (await Runner.run(with_forecast("always"), state)).final_output


async def searches_files():
    store, delete_store = common.open_store()
    tool = FileSearchTool(vector_store_ids=[store.id], max_num_results=1, include_search_results=True)
    outcome = Runner.run_streamed(agent(tools=[tool]), "Where do otters swim?")
    types = [event.data.type async for event in outcome.stream_events() if event.type == "raw_response_event"]
    assert "response.file_search_call.completed" in types, types
    search, message = outcome.to_input_list()[1:]
    assert search["results"][0]["filename"] == "otters.md", search
    assert message["content"][0]["annotations"][0]["type"] == "file_citation", message
    delete_store()


async def compacts_a_session():
    helper = agent()
    # It asks for OpenAI's models only; the service has one by this name.
    session = OpenAIResponsesCompactionSession(
        "ada",
        SQLiteSession("ada"),
        model="gpt-4.1",
        should_trigger_compaction=lambda context: len(context["compaction_candidate_items"]) >= 2,
    )
    for text in ("Echo one", "Echo two", "Echo three"):
        assert (await Runner.run(helper, text, session=session)).final_output == text
    items = [item.get("role", item.get("type")) for item in await session.get_items()]
    assert "compaction" in items and items.count("assistant") <= 1, items


run(
    "openai-agents",
    calls_a_tool_by_responses,
    streams_responses,
    continues_from_previous_responses,
    keeps_a_session_in_a_conversation,
    calls_tools_of_mcp_servers,
    approves_calls_of_mcp_servers,
    resumes_after_an_approval,
    searches_files,
    compacts_a_session,
)
