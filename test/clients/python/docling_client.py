"""docling: its model for pages behind an API. Pipelines for whole documents need PyTorch."""

from docling.datamodel.pipeline_options_vlm_model import ApiVlmOptions, ResponseFormat
from docling.models.vlm_pipeline_models.api_vlm_model import ApiVlmModel
from PIL import Image

from common import API_KEY, BASE_URL, TOOLS_MODEL, run

PAGE = Image.new("RGB", (64, 64), "white")


def read(**options) -> list:
    options = ApiVlmOptions(
        url=f"{BASE_URL}/chat/completions",
        headers={"Authorization": f"Bearer {API_KEY}"},
        params={"model": TOOLS_MODEL},
        prompt="Echo this",
        response_format=ResponseFormat.MARKDOWN,
        **options,
    )
    model = ApiVlmModel(enabled=True, enable_remote_services=True, vlm_options=options)
    return list(model.process_images([PAGE, PAGE], options.prompt))


def reads_pages():
    for page in read(concurrency=2):
        assert page.error_message is None and page.text == "Echo this", page
        assert page.num_tokens > 0, page


run("docling-slim", reads_pages)
