import io
import wave

from openai import OpenAI

from common import API_KEY, BASE_URL, DEFAULT_MODEL, TOOLS_MODEL, run

client = OpenAI(base_url=BASE_URL, api_key=API_KEY)
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


def chats():
    answer = client.chat.completions.create(model=DEFAULT_MODEL, messages=QUESTION, max_completion_tokens=24)
    assert answer.choices[0].message.content and answer.usage.completion_tokens > 0


def streams():
    stream = client.chat.completions.create(model=DEFAULT_MODEL, messages=QUESTION, max_tokens=24, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream)


def parses_a_schema():
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str
        age: int

    answer = client.chat.completions.parse(
        model=TOOLS_MODEL, messages=[{"role": "user", "content": "Jane is 41"}], response_format=Person
    )
    assert answer.choices[0].message.parsed.age == 41


def speaks_and_transcribes_by_openai_names():
    speech = client.audio.speech.create(model="tts-1", voice="alloy", input="Good morning.", response_format="wav")
    with wave.open(io.BytesIO(speech.content)) as audio:
        assert audio.getframerate() > 0
    heard = client.audio.transcriptions.create(model="whisper-1", file=("speech.wav", speech.content))
    assert "morning" in heard.text.lower(), heard.text


def moderates_by_openai_names():
    answer = client.moderations.create(model="omni-moderation-latest", input="Good morning.")
    assert answer.results[0].flagged is False


def continues_over_a_websocket():
    with client.responses.connect() as connection:
        previous = None
        for question in ("What is the capital of France?", "And of Spain?"):
            connection.response.create(
                model=DEFAULT_MODEL, input=question, max_output_tokens=16, store=False, previous_response_id=previous
            )
            for event in connection:
                assert event.type != "error", event.to_json()
                if event.type in ("response.completed", "response.incomplete"):
                    assert event.response.output_text and event.response.previous_response_id == previous
                    previous = event.response.id
                    break


def lists_models():
    assert DEFAULT_MODEL in [model.id for model in client.models.list()]


run(
    "openai",
    chats,
    streams,
    parses_a_schema,
    speaks_and_transcribes_by_openai_names,
    moderates_by_openai_names,
    continues_over_a_websocket,
    lists_models,
)
