import openai
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from common import API_KEY, BASE_URL, TOOLS_MODEL, run


def traces_a_streamed_chat_with_its_tokens():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    client = openai.OpenAI(base_url=BASE_URL, api_key=API_KEY)
    messages = [{"role": "user", "content": "Echo this"}]
    options = {"include_usage": True}
    list(client.chat.completions.create(model=TOOLS_MODEL, messages=messages, stream=True, stream_options=options))
    [span] = exporter.get_finished_spans()
    assert span.attributes["llm.token_count.completion"] > 0


run("openinference-instrumentation-openai", traces_a_streamed_chat_with_its_tokens)
