import os

os.environ["LANGFUSE_TRACING_ENABLED"] = "false"

from langfuse.openai import openai  # noqa: E402

from common import API_KEY, BASE_URL, TOOLS_MODEL, run  # noqa: E402


def chats_through_its_client():
    client = openai.OpenAI(base_url=BASE_URL, api_key=API_KEY)
    messages = [{"role": "user", "content": "Echo this"}]
    answer = client.chat.completions.create(model=TOOLS_MODEL, messages=messages)
    assert answer.choices[0].message.content == "Echo this"


run("langfuse", chats_through_its_client)
