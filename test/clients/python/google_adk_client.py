from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types

import common
from common import API_KEY, BASE_URL, TOOLS_MODEL, run


async def calls_a_tool_as_an_agent():
    model = LiteLlm(model=f"openai/{TOOLS_MODEL}", api_base=BASE_URL, api_key=API_KEY)
    runner = InMemoryRunner(agent=LlmAgent(name="helper", model=model, tools=[common.get_weather]), app_name="clients")
    session = await runner.session_service.create_session(app_name="clients", user_id="ann")
    message = types.Content(role="user", parts=[types.Part(text="How is the weather in Paris?")])
    texts = []
    async for event in runner.run_async(user_id="ann", session_id=session.id, new_message=message):
        texts += [part.text or "" for part in (event.content.parts if event.content else [])]
    assert "18 degrees" in "".join(texts)


run("google-adk", calls_a_tool_as_an_agent)
