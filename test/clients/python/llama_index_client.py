from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

import common
from common import API_KEY, BASE_URL, DEFAULT_MODEL, TOOLS_MODEL, run


def chats():
    model = OpenAILike(model=DEFAULT_MODEL, api_base=BASE_URL, api_key=API_KEY, is_chat_model=True, max_tokens=16)
    assert model.chat([ChatMessage(role="user", content="Say hello.")]).message.content


def calls_a_tool():
    model = OpenAILike(
        model=TOOLS_MODEL, api_base=BASE_URL, api_key=API_KEY, is_chat_model=True, is_function_calling_model=True
    )
    answer = model.chat_with_tools([FunctionTool.from_defaults(common.get_weather)], user_msg="How is the weather?")
    assert answer.message.additional_kwargs["tool_calls"]


run("llama-index-llms-openai-like", chats, calls_a_tool)
