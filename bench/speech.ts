/**
 * Time to first audio byte and real-time factor of speech models, for short and long texts, with one and four clients.
 *
 *   node bench/speech.ts [--piper VOICE.onnx --espeak-data FOLDER] [--words COUNT,…] [model …]
 *
 * Models: hibari (default), kokoro-82m, piper, flite.
 */

import { parseArgs } from "node:util";
import { startServiceProcess } from "../test/support/service/service-process.ts";
import { knownVoices, median, toModelConfig } from "./speech-voices.ts";

const WORDS =
  "Every morning the old lighthouse keeper walked down to the harbour, greeted the fishermen, and asked what the sea had brought in overnight.".split(
    " ",
  );
const SENTENCE_WORDS = [10, WORDS.length, 16];
const AT_ONCE = [1, 4];
const WAVE_HEADER_BYTES = 44;
const ROUNDS = 3;

interface Measured {
  firstByteMs: number;
  totalMs: number;
  audioSeconds: number;
}

/** Sentences of several lengths. */
function textOf(count: number): string {
  const words: string[] = [];
  for (let sentence = 0; words.length < count; sentence += 1) {
    const length = Math.min(SENTENCE_WORDS[sentence % SENTENCE_WORDS.length] ?? 10, count - words.length);
    const own = WORDS.slice(0, length).map((word) => word.replace(/[.,]$/, ""));
    words.push(...own.slice(0, -1), `${own.at(-1)}.`);
  }
  return words.join(" ");
}

async function measure(post: (body: object) => Promise<Response>, body: object): Promise<Measured> {
  const began = performance.now();
  const response = await post({ ...body, response_format: "wav" });
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  let firstByteMs = 0;
  let bytes = 0;
  let bytesPerSecond = Number.NaN;
  for await (const piece of response.body) {
    // The header is sent with the first samples or just before them.
    if (bytes === 0) bytesPerSecond = Buffer.from(piece).readUInt32LE(28);
    bytes += piece.length;
    if (firstByteMs === 0 && bytes > WAVE_HEADER_BYTES) firstByteMs = performance.now() - began;
  }
  const audioSeconds = (bytes - WAVE_HEADER_BYTES) / bytesPerSecond;
  return { firstByteMs, totalMs: performance.now() - began, audioSeconds };
}

const { values: options, positionals } = parseArgs({
  options: {
    piper: { type: "string" },
    "espeak-data": { type: "string" },
    words: { type: "string", default: "10,100,1000" },
  },
  allowPositionals: true,
});
const models = positionals.length > 0 ? positionals : ["hibari"];
const texts = options.words.split(",").map((count) => ({ count: Number(count), text: textOf(Number(count)) }));
const voices = (await knownVoices(options)).filter(({ id }) => models.includes(id));
const config = voices.map((voice) => toModelConfig(voice, ", max_input_characters: 20000"));
const service = await startServiceProcess({ config: `builtin_models: false\nmodels:\n${config.join("")}` });
try {
  const post = (body: object) => service.post("/v1/audio/speech", body);
  console.log("| model | words | at once | first byte (ms) | audio (s) | real-time factor |");
  console.log("|---|---|---|---|---|---|");
  for (const model of models) {
    for (let isOpen = false; !isOpen; await new Promise((resume) => setTimeout(resume, 500))) {
      isOpen = (await post({ model, voice: "alloy", input: "Warm up." })).ok;
    }
    for (const { count, text } of texts) {
      for (const atOnce of AT_ONCE) {
        const all: Measured[] = [];
        for (let round = 0; round < (count === 1000 ? 1 : ROUNDS); round += 1) {
          const body = { model, voice: "alloy", input: text };
          all.push(...(await Promise.all(Array.from({ length: atOnce }, () => measure(post, body)))));
        }
        const first = median(all.map(({ firstByteMs }) => firstByteMs));
        const seconds = median(all.map(({ audioSeconds }) => audioSeconds));
        // Over all clients' audio: below 1, the machine keeps up with this many clients.
        const factor = median(all.map(({ totalMs, audioSeconds }) => totalMs / 1000 / audioSeconds));
        console.log(
          `| ${model} | ${count} | ${atOnce} | ${Math.round(first)} | ${seconds.toFixed(1)} | ${factor.toFixed(3)} |`,
        );
      }
    }
  }
} finally {
  await service.stop();
}
