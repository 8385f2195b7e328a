import os
from pathlib import Path

import litellm

from common import API_KEY, BASE_URL, run

os.environ.update(OPENAI_BASE_URL=BASE_URL, SCARF_NO_ANALYTICS="true")
# OpenAI's encoding, which is otherwise downloaded.
os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.__file__).parent / "litellm_core_utils/tokenizers")

from unstructured.documents.elements import NarrativeText  # noqa: E402
from unstructured.embed.openai import OpenAIEmbeddingConfig, OpenAIEmbeddingEncoder  # noqa: E402


def embeds_elements_of_a_document():
    encoder = OpenAIEmbeddingEncoder(config=OpenAIEmbeddingConfig(api_key=API_KEY))
    [element] = encoder.embed_documents([NarrativeText("Otters swim in rivers.")])
    assert len(element.embeddings) == 384


run("unstructured", embeds_elements_of_a_document)
