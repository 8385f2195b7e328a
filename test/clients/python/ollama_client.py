from ollama import Client

from common import HOST, TOOLS_MODEL, get_weather, run

client = Client(host=HOST)


def chats():
    answer = client.chat(TOOLS_MODEL, [{"role": "user", "content": "Say it."}])
    assert answer.message.content == "Say it."
    assert answer.done and answer.eval_count > 0


def streams():
    parts = list(client.chat(TOOLS_MODEL, [{"role": "user", "content": "Say it again."}], stream=True))
    assert "".join(part.message.content or "" for part in parts) == "Say it again."
    assert parts[-1].done


def generates():
    assert client.generate(TOOLS_MODEL, "Say it.").response == "Say it."


def calls_a_tool():
    messages = [{"role": "user", "content": "How is the weather?"}]
    answer = client.chat(TOOLS_MODEL, messages, tools=[get_weather])
    call = answer.message.tool_calls[0]
    assert call.function.name == "get_weather"
    result = get_weather(**call.function.arguments)
    messages += [answer.message, {"role": "tool", "tool_name": "get_weather", "content": result}]
    assert client.chat(TOOLS_MODEL, messages).message.content == "It is 18 degrees in Paris."


def answers_in_a_schema():
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = client.chat(TOOLS_MODEL, [{"role": "user", "content": "Jane is 41."}], format=schema)
    assert '"Jane"' in answer.message.content


def embeds():
    answer = client.embed("all-minilm-l6-v2", ["A cat.", "A dog."])
    assert [len(each) for each in answer.embeddings] == [384, 384]


def lists_and_shows_models():
    assert TOOLS_MODEL in [each.model for each in client.list().models]
    assert "tools" in client.show(TOOLS_MODEL).capabilities


run("ollama", chats, streams, generates, calls_a_tool, answers_in_a_schema, embeds, lists_and_shows_models)
