from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool

import common
from common import API_KEY, DEFAULT_MODEL, HOST, TOOLS_MODEL, run

client = Anthropic(base_url=HOST, api_key=API_KEY)
QUESTION = [{"role": "user", "content": "How is the weather in Paris?"}]


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def answers():
    message = client.messages.create(
        model=DEFAULT_MODEL, max_tokens=50, messages=[{"role": "user", "content": "Say hello."}]
    )
    assert text_of(message)


def streams():
    with client.messages.stream(
        model=DEFAULT_MODEL, max_tokens=50, messages=[{"role": "user", "content": "Say hello."}]
    ) as stream:
        assert "".join(stream.text_stream)


def runs_a_tool_and_answers():
    calls = []

    @beta_tool
    def get_weather(city: str) -> str:
        """Current weather of a city.

        Args:
            city: Name of the city.
        """
        calls.append(city)
        return common.get_weather(city)

    runner = client.beta.messages.tool_runner(
        model=TOOLS_MODEL, max_tokens=500, tools=[get_weather], messages=QUESTION
    )
    assert "18 degrees" in text_of(runner.until_done())
    assert calls == ["Paris"]


async def runs_a_tool_asynchronously():
    @beta_async_tool
    async def get_weather(city: str) -> str:
        """Current weather of a city.

        Args:
            city: Name of the city.
        """
        return common.get_weather(city)

    async with AsyncAnthropic(base_url=HOST, api_key=API_KEY) as asynchronous:
        runner = asynchronous.beta.messages.tool_runner(
            model=TOOLS_MODEL, max_tokens=500, tools=[get_weather], messages=QUESTION
        )
        assert "18 degrees" in text_of(await runner.until_done())


SERVER = {"type": "url", "name": "forecast", "url": ""}
BLOCKS = ["mcp_tool_use", "mcp_tool_result", "text"]


def calls_a_tool_of_an_mcp_server():
    message = client.beta.messages.create(
        model=TOOLS_MODEL,
        max_tokens=500,
        betas=["mcp-client-2025-11-20"],
        mcp_servers=[SERVER],
        tools=[{"type": "mcp_toolset", "mcp_server_name": "forecast"}],
        messages=[{"role": "user", "content": "What is the forecast?"}],
    )
    assert [block.type for block in message.content] == BLOCKS
    assert "18 degrees" in text_of(message)


def streams_a_call_of_an_mcp_server():
    with client.beta.messages.stream(
        model=TOOLS_MODEL,
        max_tokens=500,
        betas=["mcp-client-2025-04-04"],
        mcp_servers=[{**SERVER, "tool_configuration": {"allowed_tools": ["get_weather"]}}],
        messages=[{"role": "user", "content": "What is the forecast?"}],
    ) as stream:
        message = stream.get_final_message()
    assert [block.type for block in message.content] == BLOCKS


run(
    "anthropic",
    answers,
    streams,
    runs_a_tool_and_answers,
    runs_a_tool_asynchronously,
    calls_a_tool_of_an_mcp_server,
    streams_a_call_of_an_mcp_server,
)
