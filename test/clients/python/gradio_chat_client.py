import os

os.environ.update(GRADIO_ANALYTICS_ENABLED="False")

import gradio  # noqa: E402
from gradio_client import Client  # noqa: E402

from common import API_KEY, BASE_URL, TOOLS_MODEL, run  # noqa: E402


def streams_in_its_chat_page():
    page = gradio.load_chat(BASE_URL, model=TOOLS_MODEL, token=API_KEY)
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
    try:
        answer = Client(url, verbose=False).predict({"text": "Echo this", "files": []}, api_name="/open_api_stream")
        assert "Echo this" in str(answer), answer
    finally:
        page.close()


run("gradio", streams_in_its_chat_page)
