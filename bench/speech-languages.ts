/**
 * Errors of Whisper on Kokoro's sentences in each language: `node bench/speech-languages.ts [LANGUAGE...]`.
 * `--from` and `--sentences` choose some of them; `--espeak` speaks them with espeak-ng instead, as a baseline; `--verbose` prints what Whisper heard.
 */

import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { Resampler } from "@parlance-inference/audio/resample";
import { NeuralTts } from "@parlance-inference/english-tts/neural-tts";
import { languageOf } from "@parlance-inference/english-tts/voice-languages";
import type { PhonemizedLanguage } from "@parlance-inference/kokoro-phonemes/open-phonemizer";
import { testModelStore } from "../test/support/models/default-model.ts";
import { SENTENCES } from "../test/support/speech/sentences.ts";
import { speechErrors } from "../test/support/speech/speech-errors.ts";
import { loadWhisper } from "./load-whisper.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    espeak: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
    from: { type: "string", default: "0" },
    sentences: { type: "string", default: "20" },
    voice: { type: "string" },
  },
});
const ESPEAK_VOICES: Readonly<Record<string, string>> = { fr: "fr-fr", pt: "pt-br", zh: "cmn" };

const store = testModelStore();
const signal = AbortSignal.timeout(3_600_000);
const { paths } = await store.pull({ model: "kokoro-82m" }, { signal });
const listener = await loadWhisper(store, signal);
const languages = (positionals.length > 0 ? positionals : Object.keys(SENTENCES)) as PhonemizedLanguage[];
const tts = await NeuralTts.open({ paths, threads: 2 });

for (const language of languages) {
  const voice = values.voice ?? tts.voices.find((name) => languageOf(name) === language) ?? "";
  let errors = 0;
  let total = 0;
  for (const text of SENTENCES[language]?.slice(Number(values.from), Number(values.from) + Number(values.sentences)) ??
    []) {
    const samples = values.espeak ? await espeak(text, language) : await speak(text, voice);
    const heard = await transcribe(samples, language);
    const count = await speechErrors(language, text, heard);
    errors += count.errors;
    total += count.total;
    if (values.verbose && count.errors > 0) console.log(`${count.errors}  ${text}\n   ${heard}`);
  }
  const speaker = values.espeak ? "espeak-ng" : voice;
  console.log(`${language} ${speaker}: ${errors} of ${total} wrong (${((100 * errors) / total).toFixed(1)} %)`);
}
await tts.close();
process.exit(0);

async function speak(text: string, voice: string): Promise<Float32Array> {
  const request = { text, voice, speed: 1, maxInputCharacters: 4096, checksLanguage: false };
  const pieces: Float32Array[] = [];
  for await (const piece of tts.synthesize(request, signal)) pieces.push(piece);
  return resampled(Float32Array.from(pieces.flatMap((piece) => [...piece])), tts.sampleRate);
}

async function espeak(text: string, language: string): Promise<Float32Array> {
  const wave = execFileSync("espeak-ng", ["-v", ESPEAK_VOICES[language] ?? language, "--stdout", text], {
    maxBuffer: 1e8,
  });
  const samples = new Int16Array(Uint8Array.from(wave.subarray(44)).buffer);
  return resampled(
    Float32Array.from(samples, (sample) => sample / 32_768),
    wave.readUInt32LE(24),
  );
}

async function resampled(samples: Float32Array, rate: number): Promise<Float32Array> {
  const resampler = new Resampler(16_000);
  const converted = await resampler.resample(samples, rate);
  const rest = await resampler.finish();
  resampler.close();
  return Float32Array.from([...converted, ...rest]);
}

async function transcribe(samples: Float32Array, language: string): Promise<string> {
  let text = "";
  const recording = (async function* () {
    yield samples;
  })();
  for await (const event of listener.transcribe(recording, { language, beamSize: 5 }, signal)) {
    if (event.type === "segment") text += event.text;
  }
  return text.trim();
}
