import litellm

from common import API_KEY, BASE_URL, DEFAULT_MODEL, TOOLS_MODEL, run

TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}


def ask(model, text, **more):
    return litellm.completion(
        model=f"openai/{model}", api_base=BASE_URL, api_key=API_KEY, messages=[{"role": "user", "content": text}], **more
    )


def completes():
    assert ask(DEFAULT_MODEL, "Say hello.", max_tokens=16).choices[0].message.content


def streams():
    parts = ask(DEFAULT_MODEL, "Say hello.", max_tokens=16, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in parts)


def calls_a_tool():
    assert ask(TOOLS_MODEL, "How is the weather?", tools=[TOOL]).choices[0].message.tool_calls


run("litellm", completes, streams, calls_a_tool)
