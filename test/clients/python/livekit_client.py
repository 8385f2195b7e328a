from livekit.agents import ChatContext
from livekit.plugins import openai

from common import API_KEY, BASE_URL, TOOLS_MODEL, run


async def answers_in_a_voice_session():
    model = openai.LLM(model=TOOLS_MODEL, base_url=BASE_URL, api_key=API_KEY)
    context = ChatContext.empty()
    context.add_message(role="user", content="Echo this")
    text = ""
    async with model.chat(chat_ctx=context) as stream:
        async for chunk in stream:
            text += (chunk.delta.content or "") if chunk.delta else ""
    await model.aclose()
    assert "Echo this" in text


run("livekit-plugins-openai", answers_in_a_voice_session)
