/** Speech through an upstream, which is a second Parlance. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const UPSTREAM = `
builtin_models: false
models:
  - id: hum
    task: speech
    deployments: [{ engine: scripted, slots: 8, speech: { voices: [low, high] } }]
  - id: hesitant
    task: speech
    deployments: [{ engine: scripted, slots: 2, speech: { delay_ms_per_sentence: 600000 } }]
  - id: slow-rate
    task: speech
    deployments: [{ engine: scripted, speech: { sample_rate: 22050 } }]
  - id: chatty
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`;

let upstream: Service;
let service: Service;
beforeAll(async () => {
  upstream = await startService({ config: UPSTREAM });
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: speaker, task: speech, deployments: [${deploymentAt(upstream, "hum")}] }
  - { id: "far/*", task: speech, deployments: [${deploymentAt(upstream)}] }
`,
  });
});
afterAll(async () => {
  await service.stop();
  await upstream.stop();
});

const body = { model: "speaker", voice: "high", input: "Hello there. And you.", response_format: "pcm" };
const speak = (given: object, init?: RequestInit) => service.post("/v1/audio/speech", { ...body, ...given }, init);

test("forwards the upstream's samples", async () => {
  const there = await upstream.post("/v1/audio/speech", { ...body, model: "hum" });
  const here = await speak({});
  expect(here.status).toBe(200);
  const [own, passed] = await Promise.all([there.arrayBuffer(), here.arrayBuffer()]);
  const samples = new Int16Array(passed);
  const differences = new Int16Array(own).map((sample, index) => Math.abs(sample - (samples[index] ?? 0)));
  expect(samples.length).toBe(own.byteLength / 2);
  expect(Math.max(...differences)).toBeLessThanOrEqual(1);
});

test("refuses word times", async () => {
  const response = await speak({ stream_format: "sse", timestamp_granularities: ["word"] });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: {
      param: "timestamp_granularities",
      message: expect.stringMatching(/`speaker` does not say when words are spoken; no model/),
    },
  });
});

test.each([
  ["mp3", "audio/mpeg"],
  ["opus", "audio/ogg; codecs=opus"],
  ["flac", "audio/flac"],
])("encodes %s locally, whatever the upstream supports", async (response_format, contentType) => {
  const response = await speak({ response_format });
  expect(response.headers.get("content-type")).toBe(contentType);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1000);
});

test("streams the first sentence of a wildcard model before the second", async () => {
  const leave = new AbortController();
  const response = await speak({ model: "far/hesitant" }, { signal: leave.signal });
  expect(response.status).toBe(200);
  const first = await response.body?.getReader().read();
  expect(first?.value?.length).toBeGreaterThan(100);
  leave.abort();
});

test.each([
  ["an unknown voice", { voice: "nobody" }, 400, /nobody.*low, high/],
  ["a model that the upstream does not have", { model: "far/nothing" }, 404, /does not exist/],
  ["a text without anything to say", { input: "?!" }, 400, /nothing that can be spoken/],
  ["a model of another task", { model: "far/chatty" }, 400, /chat, not speech/],
  ["samples at another rate than pcm has", { model: "far/slow-rate" }, 502, /upstream/i],
])("forwards the upstream's error for %s", async (_name, given, status, message) => {
  const response = await speak(given);
  expect(await response.text()).toMatch(message);
  expect(response.status).toBe(status);
});
