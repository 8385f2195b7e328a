"""Drives Open WebUI over HTTP as its own page does."""

import json
import os
import time
import uuid
from pathlib import Path

import httpx

from common import DEFAULT_MODEL, TOOLS_MODEL, run
from open_webui_server import LOG, URL, start, stop

client = httpx.Client(base_url=URL, timeout=300)


def sign_in():
    answer = client.post("/api/v1/auths/signin", json={"email": "admin@localhost", "password": "admin"})
    client.headers["authorization"] = f"Bearer {answer.json()['token']}"


def post(path, **request):
    answer = client.post(path, **request)
    assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:500]}"
    return answer.json()


def get(path):
    answer = client.get(path)
    assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:500]}"
    return answer.json()


def chat_as_the_page(model, text, **more):
    """Sends a message as the page does, with all built-in tools and tasks, and returns the chat once it is complete."""
    get("/api/models")
    message_id, answer_id = str(uuid.uuid4()), str(uuid.uuid4())
    user_message = {"id": message_id, "parentId": None, "role": "user", "content": text, "timestamp": int(time.time())}
    started = post(
        "/api/chat/completions",
        json={
            "model": model,
            "stream": True,
            "messages": [{"role": "user", "content": text}],
            "session_id": "page",
            "parent_id": None,
            "user_message": {**user_message, "models": [model], **more.pop("message", {})},
            "message_ids": [{"model_id": model, "message_id": answer_id}],
            "background_tasks": {"title_generation": True, "tags_generation": True, "follow_up_generation": True},
            **more,
        },
    )
    chat_id = started.get("chat_id")
    assert chat_id, started
    for _ in range(1200):
        chat = get(f"/api/v1/chats/{chat_id}")
        answer = chat["chat"]["history"]["messages"].get(answer_id, {})
        if answer.get("done") or answer.get("error"):
            assert not answer.get("error"), answer["error"]
            return answer
        time.sleep(0.5)
    raise AssertionError(f"no answer: {json.dumps(chat)[:2000]}")


def lists_models():
    listed = [model["id"] for model in get("/api/models")["data"]]
    assert DEFAULT_MODEL in listed and TOOLS_MODEL in listed, listed


def chats_with_all_its_tools():
    answer = chat_as_the_page(TOOLS_MODEL, "Echo this.")
    assert "Echo this." in answer["content"], answer


def calls_a_built_in_tool():
    answer = chat_as_the_page(TOOLS_MODEL, "Which time is it?")
    assert "The tool has answered." in answer["content"], answer


def sends_the_sliders_of_its_settings():
    params = {"num_ctx": 8192, "keep_alive": "5m", "temperature": 0.3, "top_k": 40, "min_p": 0.05, "repeat_last_n": 64}
    more = {"num_batch": 512, "num_keep": 24, "tfs_z": 1, "mirostat": 0, "use_mmap": True, "think": False, "seed": 1}
    answer = chat_as_the_page(TOOLS_MODEL, "Echo this.", params={**params, **more, "max_tokens": 16})
    assert "Echo this." in answer["content"], answer


def chats_with_the_default_model_without_tools():
    # 28 tools are 21 kB of JSON, which a small model cannot use and a busy CPU reads for minutes.
    answer = chat_as_the_page(DEFAULT_MODEL, "Say hello.", params={"function_calling": "legacy", "max_tokens": 16})
    assert answer["content"], answer


def generates_title_tags_and_follow_ups():
    messages = [{"role": "user", "content": "Echo this."}, {"role": "assistant", "content": "Echo this."}]
    for task in ("title", "tags", "follow_up", "queries", "emoji"):
        request = {"model": TOOLS_MODEL, "messages": messages, "chat_id": "none", "type": "web_search", "prompt": "Echo"}
        answer = post(f"/api/v1/tasks/{task}/completions", json=request)
        assert answer["choices"][0]["message"]["content"], answer


def answers_from_an_uploaded_file():
    text = "The lighthouse of Brindlemoor has a green lamp.\n" * 20
    uploaded = post("/api/v1/files/", files={"file": ("lamp.txt", text, "text/plain")})
    for _ in range(900):
        status = get(f"/api/v1/files/{uploaded['id']}/process/status")["status"]
        if status not in ("pending", "processing"):
            break
        time.sleep(0.2)
    assert status == "completed", get(f"/api/v1/files/{uploaded['id']}")
    files = [{"type": "file", "id": uploaded["id"], "name": "lamp.txt", "status": "uploaded", "file": uploaded}]
    answer = chat_as_the_page(TOOLS_MODEL, "Which lamp has Brindlemoor?", files=files, message={"files": files})
    assert answer["sources"][0]["document"], answer


def lists_voices_and_speech_models():
    voices = [voice["id"] for voice in get("/api/v1/audio/voices")["voices"]]
    models = [model["id"] for model in get("/api/v1/audio/models")["models"]]
    assert "alloy" in voices and models, (voices, models)


def speaks_and_transcribes():
    spoken = client.post("/api/v1/audio/speech", json={"input": "Good morning.", "voice": "alloy", "model": "tts-1"})
    assert spoken.status_code == 200, spoken.text
    heard = post("/api/v1/audio/transcriptions", files={"file": ("speech.mp3", spoken.content, "audio/mpeg")})
    assert "morning" in heard["text"].lower(), heard


process = start()
try:
    sign_in()
    run(
        "open-webui",
        lists_models,
        chats_with_all_its_tools,
        calls_a_built_in_tool,
        sends_the_sliders_of_its_settings,
        generates_title_tags_and_follow_ups,
        answers_from_an_uploaded_file,
        lists_voices_and_speech_models,
        speaks_and_transcribes,
        chats_with_the_default_model_without_tools,
    )
finally:
    if os.environ.get("CLIENT_LOG"):
        Path(os.environ["CLIENT_LOG"]).write_text(LOG.read_text())
    stop(process)
