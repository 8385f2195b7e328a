"""A chat model in OpenAI's format on Ray Serve, scaled from 1 to 4 replicas by Ray.

Prints one JSON object per line: {"listening": true} once it answers, then {"replicas": n} whenever n changes.
Ends when its standard input does.
"""

import asyncio
import json
import sys
import threading
import time

import ray
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from ray import serve

WORDS = [f"word{index}" for index in range(40)]
SECONDS_PER_TOKEN = 0.02

app = FastAPI()


@serve.deployment(
    autoscaling_config={
        "min_replicas": 1,
        "max_replicas": 4,
        "target_ongoing_requests": 4,
        "upscale_delay_s": 1,
        "downscale_delay_s": 5,
        "metrics_interval_s": 0.5,
        "look_back_period_s": 2,
    },
    max_ongoing_requests=16,
    ray_actor_options={"num_cpus": 0.1},
    graceful_shutdown_timeout_s=20,
)
@serve.ingress(app)
class Chat:
    def __init__(self):
        self.replica = serve.get_replica_context().replica_id.unique_id

    def envelope(self, kind):
        return {
            "id": "chatcmpl-ray",
            "object": kind,
            "created": int(time.time()),
            "model": "ray-chat",
            "system_fingerprint": self.replica,
        }

    @app.get("/v1/models")
    async def models(self):
        return {"object": "list", "data": [{"id": "ray-chat", "object": "model"}]}

    @app.post("/v1/chat/completions")
    async def chat(self, body: dict):
        usage = {"prompt_tokens": 3, "completion_tokens": len(WORDS), "total_tokens": len(WORDS) + 3}
        if body.get("stream"):
            asks = (body.get("stream_options") or {}).get("include_usage")
            return StreamingResponse(self.events(usage if asks else None), media_type="text/event-stream")
        await asyncio.sleep(SECONDS_PER_TOKEN * len(WORDS))
        message = {"role": "assistant", "content": " ".join(WORDS)}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return {**self.envelope("chat.completion"), "choices": choices, "usage": usage}

    async def events(self, usage):
        def event(**fields):
            return f"data: {json.dumps({**self.envelope('chat.completion.chunk'), **fields})}\n\n"

        def delta(content, reason=None):
            return event(choices=[{"index": 0, "delta": content, "finish_reason": reason}])

        yield delta({"role": "assistant", "content": ""})
        for index, word in enumerate(WORDS):
            await asyncio.sleep(SECONDS_PER_TOKEN)
            yield delta({"content": word if index == 0 else f" {word}"})
        yield delta({}, "stop")
        if usage is not None:
            yield event(choices=[], usage=usage)
        yield "data: [DONE]\n\n"


def report(**fields):
    print(json.dumps(fields), flush=True)


def main(port):
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, logging_level="ERROR")
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    serve.run(Chat.bind(), logging_config={"log_level": "ERROR"})
    report(listening=True)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    known = None
    while not ended.wait(0.25):
        deployment = serve.status().applications["default"].deployments["Chat"]
        replicas = deployment.replica_states.get("RUNNING", 0)
        if replicas != known:
            report(replicas=replicas)
        known = replicas
    serve.shutdown()
    ray.shutdown()


main(int(sys.argv[1]))
