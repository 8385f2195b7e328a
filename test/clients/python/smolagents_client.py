from smolagents import OpenAIServerModel, ToolCallingAgent, tool

from common import API_KEY, BASE_URL, TOOLS_MODEL, run


@tool
def get_weather(city: str) -> str:
    """Current weather of a city.

    Args:
        city: Name of the city.
    """
    return f"18 degrees in {city}"


def streams():
    model = OpenAIServerModel(TOOLS_MODEL, api_base=BASE_URL, api_key=API_KEY)
    deltas = model.generate_stream([{"role": "user", "content": [{"type": "text", "text": "Echo this"}]}])
    assert "".join(delta.content or "" for delta in deltas) == "Echo this"


def calls_a_tool():
    model = OpenAIServerModel(TOOLS_MODEL, api_base=BASE_URL, api_key=API_KEY)
    messages = [{"role": "user", "content": [{"type": "text", "text": "How is the weather in Paris?"}]}]
    message = model.generate(messages, tools_to_call_from=[get_weather])
    assert message.tool_calls[0].function.name == "get_weather"


run("smolagents", streams, calls_a_tool)
