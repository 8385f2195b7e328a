/**
 * Errors and CPU time of whisper-base on recordings in which the language changes, spoken by Kokoro's voices:
 * `node bench/language-switches.ts [chosen|others] [name]`. The rule was chosen on the first half of the recordings.
 * `first`: the language of the first stretch holds, `detected`: none is named, `alone`: each stretch alone with its language.
 * Counts words, and characters of Chinese and Japanese.
 */

import { readFileSync } from "node:fs";
import { Resampler } from "@parlance-inference/audio/resample";
import { NeuralTts } from "@parlance-inference/english-tts/neural-tts";
import type { TranscribeOptions } from "@parlance-inference/whisper-onnx/whisper-model";
import { testModelStore } from "../test/support/models/default-model.ts";
import { wordErrors, wordsOf } from "../test/support/models/word-errors.ts";
import { SENTENCES } from "../test/support/speech/sentences.ts";
import { loadWhisper } from "./load-whisper.ts";

/** The second voice speaks the second half. */
const VOICES: Readonly<Record<string, readonly [string, string]>> = {
  en: ["af_heart", "am_michael"],
  es: ["ef_dora", "em_alex"],
  fr: ["ff_siwis", "ff_siwis"],
  it: ["if_sara", "im_nicola"],
  pt: ["pf_dora", "pm_alex"],
  hi: ["hf_alpha", "hm_omega"],
  ja: ["jf_alpha", "jm_kumo"],
  zh: ["zf_xiaobei", "zm_yunjian"],
};
/** Seconds of the pause before each change, and the language and sentences of each stretch. */
const SWITCHES = {
  chosen: [
    "1.2 en:0,2,3,5,6 es:0,3,5,7,8,9",
    "0.7 fr:0,3,5,7 en:1,4,7,8,9",
    "3 it:0,3,5,7,8 zh:0,3,5,7,8,9",
    "0.6 en:0 fr:0 en:2 fr:3 en:3 fr:5 en:6 fr:7",
    "0.8 es:0,3,5,7 en:5 es:8,9,0",
    "0.8 en:0,2,3,7 it:5 en:8,9,5",
    "1 en:2,6,7,9 pt:0,3,5,7 ja:0,3,5,7,8",
    "1 hi:0,3,5,6,8 en:0,4,5,9",
  ],
  others: [
    "1.2 es:12,14,16,17,19 en:10,12,14,16,18",
    "0.7 en:11,13,15,17 fr:12,15,16,17,19",
    "3 zh:12,13,15,16,17,19 it:12,15,16,17,19",
    "0.6 es:12 it:12 es:14 it:15 es:16 it:16 es:17 it:17",
    "0.8 fr:12,14,15,16 en:13 fr:17,19,12",
    "0.8 en:10,12,14,15 pt:12 en:16,18,19",
    "1 ja:12,13,15,16,18 es:12,14,16,17 en:11,13,19",
    "1 en:10,15,16,18 hi:12,13,15,16,18",
  ],
};
const ONE_LANGUAGE = { chosen: "0,2,3,5,6,7,8,9,4,1", others: "10,12,13,15,16,17,18,19,14,11" };
const SENTENCE_PAUSE_SECONDS = 0.35;
const RATE = 16_000;

interface Stretch {
  language: string;
  text: string;
  samples: Float32Array;
}

const signal = new AbortController().signal;
const store = testModelStore();
const { paths } = await store.pull({ model: "kokoro-82m-japanese" }, { signal });
const tts = await NeuralTts.open({ paths, threads: 2 });
const whisper = await loadWhisper(store, signal);
const english = readFileSync(`${import.meta.dirname}/speech-sentences.txt`, "utf8")
  .trim()
  .split("\n");
const spoken = new Map<string, Promise<Float32Array>>();
const [half = "chosen", name = ""] = process.argv.slice(2) as [keyof typeof SWITCHES, string];
const controls = Object.keys(VOICES).map((language) => `0.6 ${language}:${ONE_LANGUAGE[half]}`);

console.log(["recording", "words", "first", "detected", "alone", "CPU s first", "detected"].join("\t"));
for (const recording of [...SWITCHES[half], ...controls].filter((each) => each.includes(name))) {
  const [pauseSeconds, ...parts] = recording.split(" ");
  const stretches = await Promise.all(parts.map(speak));
  const samples = joined(
    stretches.map((each) => each.samples),
    Number(pauseSeconds),
  );
  const text = stretches.map((each) => each.text).join(" ");
  const first = await transcribe(samples, { language: stretches[0]?.language });
  const detected = await transcribe(samples, {});
  const alone: string[] = [];
  for (const each of stretches) alone.push((await transcribe(each.samples, { language: each.language })).text);
  const errors = [first.text, detected.text, alone.join(" ")].map((heard) => wordErrors(normal(text), normal(heard)));
  const seconds = [first, detected].map((each) => each.cpuSeconds.toFixed(1));
  const words = wordsOf(normal(text)).length;
  console.log([recording, words, ...errors, ...seconds, detected.language].join("\t"));
  if (name !== "") console.log(`${first.text}\n${detected.text}\n${alone.join(" ")}`);
}
process.exit(0);

async function speak(part: string): Promise<Stretch> {
  const [language = "", indices = ""] = part.split(":");
  const sentences = indices
    .split(",")
    .map((index) => (language === "en" ? english : SENTENCES[language])?.[Number(index)]);
  const voice = VOICES[language]?.[half === "chosen" ? 0 : 1] ?? "";
  const pieces: Float32Array[] = [];
  for (const sentence of sentences) pieces.push(await speakSentence(sentence ?? "", voice));
  return { language, text: sentences.join(" "), samples: joined(pieces, SENTENCE_PAUSE_SECONDS) };
}

function speakSentence(text: string, voice: string): Promise<Float32Array> {
  const samples = spoken.get(text) ?? synthesize(text, voice);
  spoken.set(text, samples);
  return samples;
}

async function synthesize(text: string, voice: string): Promise<Float32Array> {
  const request = { text, voice, speed: 1, maxInputCharacters: 4096, checksLanguage: false };
  const pieces: Float32Array[] = [];
  for await (const piece of tts.synthesize(request, signal)) pieces.push(piece);
  const resampler = new Resampler(RATE);
  const converted = await resampler.resample(joined(pieces, 0), tts.sampleRate);
  const rest = await resampler.finish();
  resampler.close();
  return joined([converted, rest], 0);
}

function joined(pieces: readonly Float32Array[], pauseSeconds: number): Float32Array {
  const pause = new Array<number>(Math.round(pauseSeconds * RATE)).fill(0);
  return Float32Array.from(pieces.flatMap((piece, index) => [...(index > 0 ? pause : []), ...piece]));
}

async function transcribe(samples: Float32Array, options: TranscribeOptions) {
  const recording = (async function* () {
    yield samples;
  })();
  const before = process.cpuUsage();
  const events = await Array.fromAsync(whisper.transcribe(recording, { ...options, beamSize: 5 }, signal));
  const { user, system } = process.cpuUsage(before);
  const text = events.map((event) => (event.type === "segment" ? event.text : "")).join(" ");
  const language = events.map((event) => (event.type === "finish" ? event.language : "")).join("");
  return { text, language, cpuSeconds: (user + system) / 1e6 };
}

/** Words without accents, and characters of scripts without spaces as words. */
function normal(text: string): string {
  const letters = text
    .toLowerCase()
    .normalize("NFD")
    .replaceAll(/(?<=\p{Script=Latin})\p{M}+/gu, "")
    .normalize("NFC");
  const words = letters.replaceAll(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, " $& ");
  return (words.match(/[\p{L}\p{M}\p{N}']+/gu) ?? []).join(" ");
}
