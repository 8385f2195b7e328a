/** The default transcription model on recordings of many seconds: no words are lost between segments. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wordErrors } from "../support/models/word-errors.ts";
import { readRecording } from "../support/service/read-recording.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { makeWave } from "../support/service/wave.ts";

const MODEL = "moonshine-base-en";
const CONFIG = `
builtin_models: false
models:
  - id: ${MODEL}
    task: transcription
    deployments: [{ engine: moonshine, model: ${MODEL} }]
`;

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG });
});
afterAll(() => service.stop());

interface Verbose {
  duration: number;
  text: string;
  segments: { start: number; end: number }[];
}

async function transcribe(content: Uint8Array): Promise<Verbose> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(content)]), "long.wav");
  form.append("model", MODEL);
  form.append("response_format", "verbose_json");
  const response = await service.fetch("/v1/audio/transcriptions", { method: "POST", body: form });
  expect(response.status).toBe(200);
  return (await response.json()) as Verbose;
}

test("cuts a long recording at pauses without losing words", async () => {
  const wave = await readFile(join(import.meta.dirname, "../recordings/speech.wav"));
  const dataStart = wave.indexOf("data") + 8;
  // Half a second of silence in u-law.
  const round = Buffer.concat([wave.subarray(dataStart), Buffer.alloc(4000, 0xff)]);
  const rounds = 8;
  const joined = Buffer.concat([wave.subarray(0, dataStart), ...Array<Buffer>(rounds).fill(round)]);
  joined.writeUInt32LE(rounds * round.length, dataStart - 4);
  joined.writeUInt32LE(joined.length - 8, 4);
  const body = await transcribe(joined);
  expect(body.duration).toBeCloseTo((rounds * round.length) / 8000, 1);
  expect(body.text.match(/not an ill-disposed young man/gi)).toHaveLength(rounds);
  expect(body.segments.length).toBeGreaterThanOrEqual(rounds / 2);
  let last = 0;
  for (const { start, end } of body.segments) {
    expect(start).toBeGreaterThanOrEqual(last);
    expect(end).toBeGreaterThan(start);
    last = end;
  }
  expect(last).toBeLessThanOrEqual(body.duration);
});

test("transcribes all of a passage with and without pauses between sentences", async () => {
  const samples = await readRecording("passage.opus");
  const toWave = (from: Float32Array) =>
    makeWave({ seconds: from.length / 16_000, sample: (index) => from[index] ?? 0 });
  const transcript = (await transcribe(toWave(samples))).text;
  expect(transcript.split(" ").length).toBeGreaterThan(55);

  const twice = new Float32Array(2 * samples.length);
  twice.set(samples);
  twice.set(samples, samples.length);
  const joined = (await transcribe(toWave(twice))).text;
  expect(wordErrors(`${transcript} ${transcript}`, joined), joined).toBeLessThanOrEqual(3);

  const hurried = (await transcribe(toWave(withoutPauses(samples)))).text;
  expect(wordErrors(transcript, hurried), hurried).toBeLessThanOrEqual(6);
}, 300_000);

/** Removes pauses long enough to cut at: of each quiet stretch a tenth of a second remains. */
function withoutPauses(samples: Float32Array): Float32Array {
  const stretch = 160;
  const kept: number[] = [];
  let quiet = 0;
  for (let start = 0; start < samples.length; start += stretch) {
    const own = samples.subarray(start, start + stretch);
    quiet = own.some((sample) => Math.abs(sample) > 0.02) ? 0 : quiet + 1;
    if (quiet <= 10) kept.push(...own);
  }
  return Float32Array.from(kept);
}
