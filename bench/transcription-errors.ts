/**
 * Word errors and CPU time of transcription on clips with known text, one thread:
 * `node bench/transcription-errors.ts CLIPS MODEL [beam size] [output.json] [compute type]`, or with transcripts of another program,
 * such as `bench/faster-whisper.py` writes: `node bench/transcription-errors.ts CLIPS transcripts.json`.
 *
 * CLIPS contains 16 kHz mono WAV files with 16 bits and `clips.json`: a list of `{path, set, language, text}`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MoonshineModel } from "@parlance-inference/moonshine-onnx/moonshine-model";
import { WhisperModel } from "@parlance-inference/whisper-onnx/whisper-model";
import { countWordErrors, hasLoop, normalizeTranscript } from "./word-alignment.ts";

interface Clip {
  path: string;
  set: string;
  language: string;
  text: string;
}
interface Transcript extends Clip {
  transcript: string;
  cpuSeconds: number;
  audioSeconds: number;
}

const [folder = "", model = "moonshine-base-en", beamSize = "1", output, computeType = "float32"] =
  process.argv.slice(2);
const RATE = 16_000;
const HEADER_BYTES = 44;
/** A run of this many words that nobody said is invented text and not a misheard word. */
const INVENTED_WORDS = 3;

const transcripts: Transcript[] = model.endsWith(".json")
  ? JSON.parse(readFileSync(model, "utf8"))
  : await transcribeAll();
if (output !== undefined) writeFileSync(output, JSON.stringify(transcripts));
report();

async function transcribeAll(): Promise<Transcript[]> {
  const clips: Clip[] = JSON.parse(readFileSync(join(folder, "clips.json"), "utf8"));
  const transcribe = await load();
  const wanted = clips.filter(({ language, text }) => text !== "" && (language === "en" || !model.endsWith("-en")));
  const results: Transcript[] = [];
  for (const clip of wanted) {
    const samples = readSamples(join(folder, clip.path));
    const before = process.cpuUsage();
    const transcript = await transcribe(samples, clip.language);
    const { user, system } = process.cpuUsage(before);
    results.push({ ...clip, transcript, cpuSeconds: (user + system) / 1e6, audioSeconds: samples.length / RATE });
  }
  return results;
}

async function load(): Promise<(samples: Float32Array, language: string) => Promise<string>> {
  const file = (name: string) => join(".parlance/models", model, name);
  const { signal } = new AbortController();
  const vad = file("vad.onnx");
  if (model.startsWith("moonshine")) {
    const files = {
      encoder: file("encoder.onnx"),
      decoder: file("decoder.onnx"),
      tokenizer: file("tokenizer.js"),
      vad,
    };
    const moonshine = await MoonshineModel.load(files, 1);
    return (samples) => textOf(moonshine.transcribe(toStream(samples), signal));
  }
  const files = { weights: file("model.bin"), tokenizer: file("tokenizer.json"), config: file("config.json"), vad };
  const whisper = await WhisperModel.load(files, {
    threads: 1,
    computeType: computeType === "int8" ? "int8" : "float32",
  });
  const options = { beamSize: Number(beamSize) };
  return (samples, language) => textOf(whisper.transcribe(toStream(samples), { ...options, language }, signal));
}

async function* toStream(samples: Float32Array): AsyncGenerator<Float32Array> {
  yield samples;
}

async function textOf(events: AsyncIterable<{ type: string; text?: string }>): Promise<string> {
  const all = await Array.fromAsync(events);
  return all.flatMap(({ text }) => text ?? []).join(" ");
}

function readSamples(path: string): Float32Array {
  const bytes = readFileSync(path);
  const start = bytes.indexOf("data", 12) + 8 || HEADER_BYTES;
  return Float32Array.from(
    { length: (bytes.length - start) >> 1 },
    (_, index) => bytes.readInt16LE(start + 2 * index) / 32_768,
  );
}

function report(): void {
  const rows = transcripts.map((each) => {
    const normal = { text: normalizeTranscript(each.text), transcript: normalizeTranscript(each.transcript) };
    return { ...each, ...normal, ...countWordErrors(normal.text, normal.transcript) };
  });
  for (const { path, text, transcript, errors, cpuSeconds } of rows) {
    if (errors > 0) console.log(`${path}: ${errors}, ${cpuSeconds.toFixed(2)} s\n  ${text}\n  ${transcript}`);
  }
  const groups = Map.groupBy(rows, ({ set, language }) => `${set} ${language}`);
  groups.set(
    "all en",
    rows.filter(({ language }) => language === "en"),
  );
  groups.set("all", rows);
  console.log(
    "\nclips                      words   wrong      %   (subst., deleted, inserted)   invented   loops   CPU s per s",
  );
  for (const [name, group] of groups) {
    const sum = (value: (row: (typeof rows)[number]) => number) => group.reduce((total, row) => total + value(row), 0);
    const words = sum((row) => row.words);
    const errors = sum((row) => row.errors);
    const kinds = [sum((row) => row.substituted), sum((row) => row.deleted), sum((row) => row.inserted)].join(", ");
    const columns = [
      `${name} (${group.length})`.padEnd(24),
      String(words).padStart(7),
      String(errors).padStart(7),
      ((100 * errors) / words).toFixed(1).padStart(6),
      `(${kinds})`.padStart(20),
      String(sum((row) => Number(row.insertedRun >= INVENTED_WORDS))).padStart(16),
      String(sum((row) => Number(hasLoop(row.transcript) && !hasLoop(row.text)))).padStart(7),
      (sum((row) => row.cpuSeconds) / sum((row) => row.audioSeconds)).toFixed(3).padStart(13),
    ];
    console.log(columns.join(" "));
  }
}
