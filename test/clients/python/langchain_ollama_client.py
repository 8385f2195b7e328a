from langchain_core.tools import tool
from langchain_ollama import ChatOllama, OllamaEmbeddings

import common
from common import HOST, TOOLS_MODEL, run


def model():
    return ChatOllama(model=TOOLS_MODEL, base_url=HOST)


def invokes():
    assert model().invoke("Say hello.").content == "Say hello."


def streams():
    assert "".join(part.content for part in model().stream("Say hello.")) == "Say hello."


def calls_a_bound_tool():
    answer = model().bind_tools([tool(common.get_weather)]).invoke("How is the weather?")
    assert answer.tool_calls[0]["args"] == {"city": "Paris"}


def embeds_documents():
    vectors = OllamaEmbeddings(model="all-minilm-l6-v2", base_url=HOST).embed_documents(["A cat.", "A dog."])
    assert [len(each) for each in vectors] == [384, 384]


run("langchain-ollama", invokes, streams, calls_a_bound_tool, embeds_documents)
