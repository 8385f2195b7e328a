/** Speaker labels with the real speaker model, which is downloaded. */

import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRecording } from "../support/service/read-recording.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { makeWave } from "../support/service/wave.ts";

const ROOT = join(import.meta.dirname, "../..");
const CONFIG = `
builtin_models: false
models:
  - id: moonshine-base-en
    task: transcription
    deployments: [{ engine: moonshine, model: moonshine-base-en }]
`;

interface Diarized {
  segments: { start: number; end: number; speaker: string }[];
}

let models: string;
let service: ServiceProcess;
beforeAll(async () => {
  models = await mkdtemp(join(tmpdir(), "parlance-models-"));
  const stored = process.env.PARLANCE_MODELS_DIR ?? join(ROOT, ".parlance", "models");
  await cp(join(stored, "moonshine-base-en"), join(models, "moonshine-base-en"), {
    recursive: true,
    dereference: true,
  });
  const environment = { PARLANCE_MODELS_DIR: models };
  const command = [join(ROOT, "src/cli/parlance.ts"), "models", "pull", "campplus"];
  await promisify(execFile)(process.execPath, command, { env: { ...process.env, ...environment } });
  service = await startServiceProcess({ config: CONFIG, environment });
}, 400_000);
afterAll(async () => {
  await service.stop();
  await rm(models, { recursive: true, force: true });
});

/** Two speakers take turns without pauses that the speech detector would find. */
async function dialogue(): Promise<{ file: Uint8Array; turns: number[]; first: Float32Array }> {
  const first = (await readRecording("passage.opus")).subarray(0, 6 * 16_000);
  const french = await readRecording("french.flac");
  const second = Float32Array.from([...french, ...french]);
  const parts = [first, second, first, second];
  const samples = Float32Array.from(parts.flatMap((part) => [...part]));
  let seconds = 0;
  const turns = parts.map((part) => {
    seconds += part.length / 16_000;
    return seconds;
  });
  const file = makeWave({ seconds, sample: (index) => samples[index] ?? 0 });
  return { file, turns, first };
}

test("tells two speakers apart and names a known one", async () => {
  const { file, turns, first } = await dialogue();
  const { audio } = service.client();
  const asked = { model: "moonshine-base-en", response_format: "diarized_json" } as const;
  // The client's types lack this format.
  const ask = async (known: object = {}): Promise<Diarized> => {
    const recording = await toFile(file, "dialogue.wav");
    return (await audio.transcriptions.create({ ...asked, ...known, file: recording })) as unknown as Diarized;
  };
  const turnOf = (seconds: number) => turns.findIndex((end) => seconds < end);
  const { segments } = await ask();
  for (const { start, end, speaker } of segments) {
    expect(speaker, `${start} to ${end}`).toBe("AB"[turnOf((start + end) / 2) % 2]);
  }
  expect(new Set(segments.map(({ speaker }) => speaker)).size).toBe(2);
  const wave = makeWave({ seconds: Math.min(5, first.length / 16_000), sample: (index) => first[index] ?? 0 });
  const reference = `data:audio/wav;base64,${Buffer.from(wave).toString("base64")}`;
  const known = { known_speaker_names: ["Ann"], known_speaker_references: [reference] };
  const named = await ask(known);
  expect(named.segments[0]?.speaker).toBe("Ann");
  expect(new Set(named.segments.map(({ speaker }) => speaker))).toEqual(new Set(["Ann", "A"]));
}, 300_000);
