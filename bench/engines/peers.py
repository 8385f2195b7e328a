"""The libraries that a user would run instead of Parlance's engines, on the same weights, for `bench/engines/engines.ts`.

Needs: pip install onnxruntime tokenizers kokoro-onnx faster-whisper. Each line of standard input is a call
`{"at_once": N, "inputs": [...]}`; each line of standard output `{"milliseconds": [...]}`, one figure an input.

    python peers.py embeddings GRAPH TOKENIZER | speech GRAPH VOICES | transcription FOLDER
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

THREADS = 2


def embeddings(graph, tokenizer_file):
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(tokenizer_file)
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(graph, options)

    def embed(texts):
        encoded = tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded], np.int32)
        mask = np.array([each.attention_mask for each in encoded], np.int32)
        return session.run(None, {"ids": ids, "mask": mask})[0].tolist()

    return embed


def speech(graph, voices):
    import onnxruntime
    from kokoro_onnx import Kokoro

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    kokoro = Kokoro.from_session(onnxruntime.InferenceSession(graph, options), voices)
    return lambda text: kokoro.create(text, voice="af_heart", lang="en-us")[0].tobytes()


def transcription(folder):
    from faster_whisper import WhisperModel

    model = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=THREADS)

    def transcribe(path):
        segments, _ = model.transcribe(path, language="en", beam_size=5, vad_filter=True)
        return " ".join(segment.text for segment in segments)

    return transcribe


def timed(work, value):
    began = time.perf_counter()
    work(value)
    return 1000 * (time.perf_counter() - began)


work = {"embeddings": embeddings, "speech": speech, "transcription": transcription}[sys.argv[1]](*sys.argv[2:])
for line in sys.stdin:
    call = json.loads(line)
    with ThreadPoolExecutor(call["at_once"]) as pool:
        milliseconds = list(pool.map(lambda value: timed(work, value), call["inputs"]))
    print(json.dumps({"milliseconds": milliseconds}), flush=True)
