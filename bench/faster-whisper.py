"""Transcribes the clips of a folder with faster-whisper, one thread: python bench/faster-whisper.py MODEL CLIPS BEAM OUTPUT."""

import json
import os
import sys
import time

from faster_whisper import WhisperModel

model_folder, clips_folder, beam, output = sys.argv[1:5]
model = WhisperModel(model_folder, device="cpu", compute_type="float32", cpu_threads=1)
transcripts = []
for clip in json.load(open(os.path.join(clips_folder, "clips.json"))):
    if clip["text"] == "":
        continue
    path = os.path.join(clips_folder, clip["path"])
    start = time.process_time()
    segments, info = model.transcribe(path, language=clip["language"], beam_size=int(beam))
    text = " ".join(segment.text.strip() for segment in segments)
    cpu = time.process_time() - start
    transcripts.append({**clip, "transcript": text, "cpuSeconds": cpu, "audioSeconds": info.duration})
json.dump(transcripts, open(output, "w"), ensure_ascii=False)
