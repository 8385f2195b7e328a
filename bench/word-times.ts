/**
 * Differences between the starts of words as a voice reports them and as Whisper finds them in the audio:
 * `node bench/word-times.ts [MODEL [VOICE]]`. Texts are three sentences each, of `--sentences` in
 * `bench/speech-sentences.txt`; `--verbose` prints each word.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { concatenateSamples } from "@parlance-inference/audio/concatenate-samples";
import { Resampler } from "@parlance-inference/audio/resample";
import { NeuralTts } from "@parlance-inference/english-tts/neural-tts";
import { testModelStore } from "../test/support/models/default-model.ts";
import { loadWhisper } from "./load-whisper.ts";

interface Word {
  word: string;
  startSeconds: number;
  endSeconds: number;
}

const SENTENCES_PER_TEXT = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sentences: { type: "string", default: "12" },
    speed: { type: "string", default: "1" },
    verbose: { type: "boolean", default: false },
  },
});
const [model = "hibari", chosenVoice] = positionals;
const store = testModelStore();
const signal = AbortSignal.timeout(3_600_000);
const { paths } = await store.pull({ model }, { signal });
const listener = await loadWhisper(store, signal);
const tts = await NeuralTts.open({ paths, threads: 1 });
const voice = chosenVoice ?? tts.voices[0] ?? "";
const sentences = (await readFile(join(import.meta.dirname, "speech-sentences.txt"), "utf8")).trim().split("\n");

const differences: number[] = [];
const compared = Number(values.sentences);
for (let first = 0; first < compared; first += SENTENCES_PER_TEXT) {
  const text = sentences.slice(first, Math.min(first + SENTENCES_PER_TEXT, compared)).join(" ");
  const { samples, words } = await speak(text);
  const heard = await listen(samples);
  for (const [spoken, match] of pair(words, heard)) {
    const difference = spoken.startSeconds - match.startSeconds;
    differences.push(difference);
    if (!values.verbose) continue;
    const [start, end, other] = [spoken.startSeconds, spoken.endSeconds, match.startSeconds];
    console.log(`${start.toFixed(3)} to ${end.toFixed(3)}, heard at ${other.toFixed(3)}  ${spoken.word}`);
  }
}
const sizes = differences.map(Math.abs).toSorted((a, b) => a - b);
const bias = differences.reduce((sum, difference) => sum + difference, 0) / differences.length;
const milliseconds = (seconds = Number.NaN) => `${Math.round(seconds * 1000)} ms`;
console.log(
  `${model} ${voice}, ${sizes.length} words: median ${milliseconds(sizes[Math.floor(sizes.length * 0.5)])}, 90th percentile ${milliseconds(sizes[Math.floor(sizes.length * 0.9)])}, mean ${milliseconds(bias)}`,
);
process.exit(0);

async function speak(text: string): Promise<{ samples: Float32Array; words: Word[] }> {
  const speed = Number(values.speed);
  const request = { text, voice, speed, maxInputCharacters: 4096, checksLanguage: false };
  const pieces = await Array.fromAsync(tts.synthesizeTimed(request, [], signal));
  const samples = concatenateSamples(pieces.map((piece) => piece.samples));
  return { samples, words: pieces.flatMap(({ words }) => [...words]) };
}

async function listen(samples: Float32Array): Promise<Word[]> {
  const resampler = new Resampler(16_000);
  const recording = concatenateSamples([await resampler.resample(samples, tts.sampleRate), await resampler.finish()]);
  resampler.close();
  const words: Word[] = [];
  const once = (async function* () {
    yield recording;
  })();
  const options = { language: "en", beamSize: 5, wordTimestamps: true };
  for await (const event of listener.transcribe(once, options, signal)) {
    if (event.type === "segment") words.push(...(event.words ?? []));
  }
  return words;
}

/** Pairs equal words in order; what was misheard, or is written otherwise, has no counterpart. */
function pair(words: readonly Word[], heard: readonly Word[]): [Word, Word][] {
  const letters = ({ word }: Word) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  const pairs: [Word, Word][] = [];
  let next = 0;
  for (const word of words) {
    const at = heard.findIndex((each, index) => index >= next && index < next + 4 && letters(each) === letters(word));
    const candidate = heard[at];
    if (candidate === undefined) {
      next += 1;
      continue;
    }
    pairs.push([word, candidate]);
    next = at + 1;
  }
  return pairs;
}
