/** Recordings of known speakers: what they cost before the request is counted, and their limits. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { makeWave } from "../support/service/wave.ts";

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
limits: { project_model: { requests_per_minute: 4 } }
models:
  - { id: writer, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "One. Two." }] }] }
  - { id: busy, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "One." }] }] }
`,
  });
});
afterAll(() => service.stop());

const dataUrl = (content: Uint8Array) => `data:audio/wav;base64,${Buffer.from(content).toString("base64")}`;
const BROKEN = dataUrl(Buffer.from("no recording"));

async function ask(model: string, references: readonly string[]) {
  const form = new FormData();
  form.set("model", model);
  form.set("response_format", "diarized_json");
  form.set("file", new Blob([new Uint8Array(makeWave({ seconds: 2 }))]), "a.wav");
  for (const [index, reference] of references.entries()) {
    form.append("known_speaker_names[]", `Speaker ${index}`);
    form.append("known_speaker_references[]", reference);
  }
  const response = await service.fetch("/v1/audio/transcriptions", { method: "POST", body: form });
  return { status: response.status, body: await response.json() };
}

test("names the speakers, and the reference that cannot be read", async () => {
  const wave = dataUrl(makeWave());
  expect(await ask("writer", [wave, wave])).toMatchObject({
    status: 200,
    body: { segments: [{ speaker: "Speaker 0" }, { speaker: "Speaker 1" }] },
  });
  expect(await ask("writer", [wave, BROKEN])).toMatchObject({
    status: 400,
    body: { error: { param: "known_speaker_references[1]", code: "invalid_value" } },
  });
  expect(await ask("writer", [dataUrl(makeWave({ seconds: 0.2 }))])).toMatchObject({
    status: 400,
    body: { error: { param: "known_speaker_references[0]", message: expect.stringContaining("0.5 s") } },
  });
});

test("refuses more than four references, and what is no data URL, before anything else", async () => {
  expect(await ask("nothing", new Array(5).fill(BROKEN))).toMatchObject({
    status: 400,
    body: { error: { param: "known_speaker_names", message: expect.stringContaining("at most 4 entries, not 5") } },
  });
  expect(await ask("nothing", [BROKEN, "https://example.com/a.wav"])).toMatchObject({
    status: 400,
    body: { error: { param: "known_speaker_references[1]", message: expect.stringContaining("data URL") } },
  });
});

test("decodes no reference for a model that there is not, or beyond a limit", async () => {
  expect(await ask("nothing", [BROKEN])).toMatchObject({ status: 404, body: { error: { code: "model_not_found" } } });
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await ask("busy", [BROKEN])).status);
  // Each of them counts, although its reference cannot be read.
  expect(statuses).toEqual([400, 400, 400, 400, 429]);
});
