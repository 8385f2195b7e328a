/**
 * Time to the first audio byte and real-time factor of speech models, for short and long texts, alone and four at once.
 *
 *   node bench/speech.ts [model …]     (default: hibari; any model of the manifest whose task is speech)
 */

import { startService } from "../test/support/service.ts";

const WORDS =
  "Every morning the old lighthouse keeper walked down to the harbour, greeted the fishermen, and asked what the sea had brought in overnight.".split(
    " ",
  );
const SENTENCE_WORDS = [10, WORDS.length, 16];
const TEXTS = [10, 100, 1000].map((count) => ({ count, text: textOf(count) }));
const AT_ONCE = [1, 4];
const PCM_BYTES_PER_SECOND = 48_000;
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function measure(post: (body: object) => Promise<Response>, body: object): Promise<Measured> {
  const began = performance.now();
  const response = await post({ ...body, response_format: "pcm" });
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  let firstByteMs = 0;
  let bytes = 0;
  for await (const piece of response.body) {
    if (bytes === 0) firstByteMs = performance.now() - began;
    bytes += piece.length;
  }
  return { firstByteMs, totalMs: performance.now() - began, audioSeconds: bytes / PCM_BYTES_PER_SECOND };
}

const models = process.argv.length > 2 ? process.argv.slice(2) : ["hibari"];
const config = models.map((id) => {
  const settings = `engine: kokoro, model: ${id}, max_input_characters: 20000`;
  return `  - { id: ${id}, task: speech, deployments: [{ ${settings} }] }\n`;
});
const service = await startService({ config: `builtin_models: false\nmodels:\n${config.join("")}` });
try {
  const post = (body: object) => service.post("/v1/audio/speech", body);
  console.log("| model | words | at once | first byte (ms) | audio (s) | real-time factor |");
  console.log("|---|---|---|---|---|---|");
  for (const model of models) {
    for (let isOpen = false; !isOpen; await new Promise((resume) => setTimeout(resume, 500))) {
      isOpen = (await post({ model, voice: "alloy", input: "Warm up." })).ok;
    }
    for (const { count, text } of TEXTS) {
      for (const atOnce of AT_ONCE) {
        const all: Measured[] = [];
        for (let round = 0; round < (count === 1000 ? 1 : ROUNDS); round += 1) {
          const body = { model, voice: "alloy", input: text };
          all.push(...(await Promise.all(Array.from({ length: atOnce }, () => measure(post, body)))));
        }
        const first = median(all.map(({ firstByteMs }) => firstByteMs));
        const seconds = median(all.map(({ audioSeconds }) => audioSeconds));
        // Of all that was spoken meanwhile: below 1, the machine keeps up with this many listeners.
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
