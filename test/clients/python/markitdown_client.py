import base64
import io

import openai
from markitdown import MarkItDown

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def describes_an_image():
    client = openai.OpenAI(base_url=BASE_URL, api_key=API_KEY)
    converter = MarkItDown(llm_client=client, llm_model=TOOLS_MODEL, llm_prompt="Echo this")
    image = io.BytesIO(base64.b64decode(PIXEL))
    assert "Echo this" in converter.convert_stream(image, file_extension=".png").markdown


run("markitdown", describes_an_image)
