import json
import os

from goose import (
    MessageContent,
    MessageRole,
    ProviderMessage,
    ProviderModelConfig,
    ProviderTool,
    StreamChunk,
    declarative_provider_from_json,
)

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

# As `~/.config/goose/custom_providers/parlance.json`.
PROVIDER = {
    "name": "parlance",
    "engine": "openai",
    "display_name": "Parlance",
    "api_key_env": "PARLANCE_KEY",
    "base_url": BASE_URL,
    "models": [{"name": TOOLS_MODEL, "context_limit": 131072}],
}
MODEL = ProviderModelConfig(model_name=TOOLS_MODEL)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ProviderTool(
    name="get_weather", description="Current weather of a city.", input_schema_json=json.dumps(SCHEMA)
)

os.environ["PARLANCE_KEY"] = API_KEY


def question(text: str) -> list[ProviderMessage]:
    return [ProviderMessage(role=MessageRole.USER, content=[MessageContent.TEXT(text)])]


async def answers():
    provider = declarative_provider_from_json(json.dumps(PROVIDER))
    answer = await provider.complete(MODEL, "Be brief.", question("Echo this"), [])
    assert "Echo this" in answer.message_json, answer


async def streams():
    provider = declarative_provider_from_json(json.dumps(PROVIDER))
    stream = await provider.stream(MODEL, "Be brief.", question("Echo this"), [])
    text = ""
    while (chunk := await stream.next_chunk()) is not None:
        text += chunk.text if isinstance(chunk, StreamChunk.TEXT_CHUNK) else ""
    assert text == "Echo this", text


async def calls_a_tool():
    provider = declarative_provider_from_json(json.dumps(PROVIDER))
    answer = await provider.complete(MODEL, "Be brief.", question("How is the weather in Paris?"), [WEATHER])
    assert "Paris" in answer.message_json, answer


run("goose-sdk", answers, streams, calls_a_tool)
