/** Keywords that a project's transcriptions expect, in the prompt that models get. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";
import { makeWave } from "../support/service/wave.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

let upstream: EchoUpstream;
let service: Service;
let path: string;
let apiKey: string;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: far, task: transcription, deployments: [${deploymentAt(upstream, "stt")}] }
  - { id: near, task: transcription, deployments: [{ engine: moonshine, model: moonshine-base-en }] }
`,
  });
  const { projects } = administrator(service);
  const { id } = await projects.create({ name: "Team" });
  path = `/v1/organization/projects/${id}/transcription_keywords`;
  apiKey = (await projects.serviceAccounts.create(id, { name: "App" })).api_key?.value ?? "";
});
afterAll(async () => {
  await service?.stop();
  await upstream?.[Symbol.asyncDispose]();
});

async function set(data: unknown) {
  const response = await service.post(path, { data }, { headers: { authorization: `Bearer ${service.adminKey}` } });
  return { status: response.status, body: (await response.json()) as { data: string[]; error: { param: string } } };
}

/** Prompt that the upstream got. */
async function promptOf(fields: { prompt?: string } = {}, key = apiKey): Promise<string | undefined> {
  const file = new File([makeWave({ seconds: 1 })], "a.wav");
  await service.client({ apiKey: key }).audio.transcriptions.create({ model: "far", file, ...fields });
  return /name="prompt"\r\n\r\n([^\r]*)/.exec(upstream.take())?.[1];
}

test("are the prompt of transcriptions without one, from the next request on", async () => {
  expect(await promptOf()).toBeUndefined();
  expect(await set(["Parlance", " nginx "])).toMatchObject({ status: 200, body: { data: ["Parlance", "nginx"] } });
  expect(await promptOf()).toBe("Parlance, nginx.");
  expect(await promptOf({ prompt: "Cities." })).toBe("Cities.");
  expect(await promptOf({}, service.apiKey)).toBeUndefined();
  // A model that takes no prompt transcribes without them.
  const file = new File([makeWave({ seconds: 1 })], "a.wav");
  const { text } = await service.client({ apiKey }).audio.transcriptions.create({ model: "near", file });
  expect(text).toBe("");
  expect((await set([])).status).toBe(200);
  expect(await promptOf()).toBeUndefined();
});

test.each([
  [undefined, "data"],
  [[" "], "data[0]"],
  [["a\nb"], "data[0]"],
  [["a".repeat(101)], "data[0]"],
  [Array(5).fill("é".repeat(50)), "data"],
  [Array(51).fill("a"), "data"],
])("names the field of %j", async (data, param) => {
  const { status, body } = await set(data);
  expect([status, body.error.param]).toEqual([400, param]);
});
