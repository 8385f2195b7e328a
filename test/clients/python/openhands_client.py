import os
import tempfile

os.environ.update(OPENHANDS_SUPPRESS_BANNER="1", HOME=tempfile.mkdtemp())

from openhands.sdk import LLM, Agent, Conversation  # noqa: E402
from openhands.sdk.conversation.response_utils import get_agent_final_response  # noqa: E402

from common import API_KEY, BASE_URL, TOOLS_MODEL, run  # noqa: E402


def answers_as_an_agent():
    model = LLM(model=f"openai/{TOOLS_MODEL}", base_url=BASE_URL, api_key=API_KEY, usage_id="agent")
    conversation = Conversation(Agent(llm=model, tools=[]), workspace=tempfile.mkdtemp(), visualizer=None)
    conversation.send_message("Echo this")
    conversation.run()
    assert "Echo this" in get_agent_final_response(conversation.state.events)


run("openhands-sdk", answers_as_an_agent)
