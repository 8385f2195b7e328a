/** A transcription model behind another service with the same API, here a second Parlance. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { RealtimeClient, silence } from "../support/service/realtime-client.ts";
import { type Service, startService } from "../support/service/service.ts";
import { makeWave } from "../support/service/wave.ts";
import { expectWithin } from "../support/timing.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

let upstream: Service;
let service: Service;
beforeAll(async () => {
  upstream = await startService({
    config: `
builtin_models: false
models:
  - id: theirs
    task: transcription
    deployments:
      - engine: scripted
        replies:
          - { match: breaks, fail_after_tokens: 0 }
          - { match: cut, text: "One. Two.", fail_after_tokens: 1 }
          - { match: slow, text: "One. Two.", delay_ms_per_token: 20000 }
          - { match: late, text: "One.", delay_ms_before_first: 20000 }
          - { text: "One two. Three." }
  - id: chat
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`,
  });
  const deployment = (model: string) => `[${deploymentAt(upstream, model)}]`;
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: ours, task: transcription, deployments: ${deployment("theirs")} }
  - { id: wrong, task: transcription, deployments: ${deployment("chat")} }
  - { id: "other/*", task: transcription, deployments: ${deployment("*")} }
`,
  });
});
afterAll(async () => {
  await service.stop();
  await upstream.stop();
});

const file = () => toFile(makeWave({ seconds: 2 }), "name.wav");

test("forwards the file and returns its segments, words and language", async () => {
  const verbose = await service.client().audio.transcriptions.create({
    model: "ours",
    file: await file(),
    response_format: "verbose_json",
    timestamp_granularities: ["word", "segment"],
    language: "de",
    prompt: "Names.",
    temperature: 0.3,
  });
  expect(verbose).toMatchObject({
    language: "german",
    duration: 2,
    text: "One two. Three.",
    segments: [
      { start: 0, end: 1, text: "One two.", avg_logprob: 0 },
      { start: 1, end: 2, text: "Three." },
    ],
    words: [{ word: "One" }, { word: "two.", end: 1 }, { word: "Three." }],
  });
});

test("forwards a request for speakers and returns them", async () => {
  const { audio } = service.client();
  const asked = { model: "ours", file: await file(), response_format: "diarized_json" } as const;
  expect(await audio.transcriptions.create(asked)).toMatchObject({
    task: "transcribe",
    duration: 2,
    text: "One two. Three.",
    segments: [
      { type: "transcript.text.segment", id: "seg_0", start: 0, end: 1, text: "One two.", speaker: "A" },
      { id: "seg_1", start: 1, end: 2, text: "Three.", speaker: "B" },
    ],
  });
  const wave = makeWave({ seconds: 2, sample: (index) => Math.sin(index / 10) });
  const reference = `data:audio/wav;base64,${Buffer.from(wave).toString("base64")}`;
  const known = { known_speaker_names: ["Ann", "Ben"], known_speaker_references: [reference, reference] };
  const named = await audio.transcriptions.create({ ...asked, ...known, file: await file() });
  expect(named).toMatchObject({ segments: [{ speaker: "Ann" }, { speaker: "Ben" }] });
});

test("translates, streams and resolves models under a wildcard", async () => {
  const { audio } = service.client();
  expect(await audio.translations.create({ model: "ours", file: await file() })).toMatchObject({
    text: "One two. Three.",
  });
  const types: string[] = [];
  for await (const event of await audio.transcriptions.create({
    model: "other/theirs",
    file: await file(),
    stream: true,
  })) {
    types.push(event.type);
  }
  expect(types.filter((type) => type === "transcript.text.delta")).toHaveLength(2);
  expect(types.at(-1)).toBe("transcript.text.done");
});

test("transcribes the turns of a Realtime session, with deltas as they arrive", async () => {
  const client = await RealtimeClient.connect(service, { query: "model=ours" });
  const input = { turn_detection: null, transcription: { model: "ours", language: "de" } };
  client.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
  client.sendAudio(silence(2));
  client.send({ type: "input_audio_buffer.commit" });
  const { delta } = await client.next("conversation.item.input_audio_transcription.delta");
  expect(delta).toBe("One two.");
  const completed = await client.next("conversation.item.input_audio_transcription.completed");
  expect(completed).toMatchObject({ transcript: "One two. Three.", usage: { seconds: 2 } });
  await client.close();
});

test("forwards a stream as it arrives, and reports a failure in it", async () => {
  const ask = async (prompt: string) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "ours", stream: "true", prompt })) form.append(name, value);
    form.append("file", new Blob([new Uint8Array(makeWave({ seconds: 2 }))]), "a.wav");
    return service.fetch("/v1/audio/transcriptions", { method: "POST", body: form });
  };
  // The upstream needs another twenty seconds for the second sentence.
  const beganAt = performance.now();
  const reader = (await ask("slow")).body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('"delta":"One."');
  expectWithin(beganAt, 15_000);
  await reader?.cancel();

  const complete = await (await ask("other")).text();
  expect(complete.match(/"type":"[a-z.]+"/g)).toEqual([
    '"type":"transcript.text.delta"',
    '"type":"transcript.text.segment"',
    '"type":"transcript.text.delta"',
    '"type":"transcript.text.segment"',
    '"type":"transcript.text.done"',
    '"type":"tokens"',
  ]);
  expect(complete).toMatch(/"text":"One two\. Three\.","usage":\{"type":"tokens","input_tokens":2,.*"seconds":2\}/);

  const broken = await (await ask("cut")).text();
  expect(broken).toContain('"delta":"One."');
  expect(broken).toContain('"error":{');
  expect(broken).not.toContain("transcript.text.done");
});

test("forwards the upstream's message about a caller's error", async () => {
  const form = { model: "ours", file: await file() };
  const { transcriptions } = service.client({ maxRetries: 0 }).audio;
  await expect(transcriptions.create({ ...form, language: "fr" })).rejects.toMatchObject({
    status: 400,
    param: "language",
    message: expect.stringContaining("it knows en, de"),
  });
  await expect(
    transcriptions.create({ ...form, file: await toFile(Buffer.from("text"), "a.mp3") }),
  ).rejects.toMatchObject({ status: 400, param: "file" });
});

test("aborts the upstream request when the client disconnects", async () => {
  const leaving = new AbortController();
  const body = { model: "ours", file: await file(), prompt: "late" };
  const asked = service
    .client({ maxRetries: 0 })
    .audio.transcriptions.create(body, { signal: leaving.signal })
    .catch((error: Error) => error.name);
  const inUse = async () => /parlance_slots_in_use\{[^}]*"theirs"[^}]*\} 1/.test(await metrics());
  await eventually(async () => expect(await inUse()).toBe(true));
  leaving.abort();
  await asked;
  await eventually(async () => expect(await inUse()).toBe(false));
});

test("reports an upstream that fails or sends an invalid answer", async () => {
  const { transcriptions } = service.client({ maxRetries: 0 }).audio;
  await expect(transcriptions.create({ model: "ours", file: await file(), prompt: "breaks" })).rejects.toMatchObject({
    status: 502,
  });
  await expect(transcriptions.create({ model: "wrong", file: await file() })).rejects.toMatchObject({ status: 400 });
});

async function metrics(): Promise<string> {
  return (await fetch(`${upstream.origin}/metrics`)).text();
}

test("limits the cost of an impossible duration, and releases the caller's slot", async () => {
  const transcript = { text: "Hi.", language: "english", duration: 1e308, segments: [] };
  const liar = createServer((request, response) => {
    request
      .resume()
      .on("end", () => response.setHeader("content-type", "application/json").end(JSON.stringify(transcript)));
  }).listen(0, "127.0.0.1");
  await once(liar, "listening");
  const { port } = liar.address() as AddressInfo;
  const deployment = `{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", model: any }`;
  const priced = await startService({
    config: `
builtin_models: false
limits: { key: { concurrent_requests: 1 } }
models: [{ id: priced, task: transcription, price: { second: "0.001" }, deployments: [${deployment}] }]
`,
  });
  try {
    for (let request = 0; request < 2; request += 1) {
      const answer = await priced
        .client({ maxRetries: 0 })
        .audio.transcriptions.create({ model: "priced", file: await file() });
      expect(answer.text).toBeDefined();
    }
    const path = `/v1/organization/costs?start_time=${Math.floor(Date.now() / 1000) - 60}`;
    const headers = { authorization: `Bearer ${priced.adminKey}` };
    await eventually(async () => {
      const { data } = (await (await priced.fetch(path, { headers })).json()) as { data: { results: object[] }[] };
      const results = data.flatMap((bucket) => bucket.results);
      expect(results).toMatchObject([{ amount: { value: 2 * 2147483.647 * 0.001 } }]);
    });
  } finally {
    await priced.stop();
    liar.close();
  }
});
