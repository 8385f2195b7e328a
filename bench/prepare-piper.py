"""Gives a Piper voice what sherpa-onnx wants: metadata inside its ONNX file, and its phonemes as a file of tokens.

    pip install onnx
    python3 bench/prepare-piper.py VOICE.onnx FOLDER     (beside it, VOICE.onnx.json)
"""

import json
import sys
from pathlib import Path

import onnx

source, folder = Path(sys.argv[1]), Path(sys.argv[2])
settings = json.loads(Path(f"{source}.json").read_text())
model = onnx.load(source)
metadata = {
    "model_type": "vits",
    "comment": "piper",
    "language": settings.get("language", {}).get("name_english", "English"),
    "voice": settings["espeak"]["voice"],
    "has_espeak": 1,
    "n_speakers": settings["num_speakers"],
    "sample_rate": settings["audio"]["sample_rate"],
}
for key, value in metadata.items():
    entry = model.metadata_props.add()
    entry.key, entry.value = key, str(value)
folder.mkdir(parents=True, exist_ok=True)
onnx.save(model, folder / "model.onnx")
tokens = (f"{phoneme} {ids[0]}\n" for phoneme, ids in settings["phoneme_id_map"].items())
(folder / "tokens.txt").write_text("".join(tokens))
