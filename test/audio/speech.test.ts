/** Speech over HTTP with the scripted model, which needs no weights: pauses, failures and invalid input. */

import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseEvents } from "../../src/kernel/server-sent-events.ts";
import { type Service, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
models:
  - id: hum
    task: speech
    deployments: [{ engine: scripted, slots: 8, speech: { voices: [low, high] } }]
  - id: hesitant
    task: speech
    deployments: [{ engine: scripted, slots: 4, speech: { delay_ms_per_sentence: 600000 } }]
  - id: terse
    task: speech
    deployments: [{ engine: scripted, speech: { voices: [low, high], max_input_characters: 10 } }]
  - id: chatty
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`;

let service: Service;
let client: OpenAI;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  client = service.client({ maxRetries: 0 });
});
afterAll(() => service.stop());

const speak = (body: object, init?: RequestInit) =>
  service.post("/v1/audio/speech", { model: "hum", voice: "low", input: "Hello there.", ...body }, init);

test.each([
  ["mp3", "audio/mpeg", [0xff]],
  ["opus", "audio/ogg; codecs=opus", [..."OggS"].map((letter) => letter.charCodeAt(0))],
  ["aac", "audio/aac", [0xff]],
  ["flac", "audio/flac", [..."fLaC"].map((letter) => letter.charCodeAt(0))],
  ["wav", "audio/wav", [..."RIFF"].map((letter) => letter.charCodeAt(0))],
  ["pcm", "audio/pcm", []],
])("answers %s with its Content-Type", async (response_format, contentType, begins) => {
  const response = await speak({ response_format });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe(contentType);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect([...bytes.subarray(0, begins.length)]).toEqual(begins);
  expect(bytes.length).toBeGreaterThan(1000);
});

test("defaults to mp3, which the official client saves to a file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parlance-speech-"));
  try {
    const response = await client.audio.speech.create({ model: "hum", voice: "alloy", input: "Hello there." });
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    await writeFile(join(folder, "hello.mp3"), Buffer.from(await response.arrayBuffer()));
    expect((await stat(join(folder, "hello.mp3"))).size).toBeGreaterThan(2000);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("halves the length of the audio at twice the speed", async () => {
  const length = async (speed: number) =>
    (await (await speak({ response_format: "pcm", speed })).arrayBuffer()).byteLength;
  const usual = await length(1);
  expect(await length(2)).toBe(usual / 2);
  expect(await length(0.25)).toBe(usual * 4);
  expect(await length(4)).toBe(usual / 4);
});

describe.each([...["mp3", "opus", "aac", "wav", "pcm"].map((format) => [format, "audio"]), ["flac", "sse"]])(
  "%s as %s",
  (response_format, stream_format) => {
    test("sends the first sentence before the second is synthesized", async () => {
      const leave = new AbortController();
      const input = "A sentence of some length. And another.";
      const body = { model: "hesitant", response_format, stream_format, input };
      const response = await speak(body, { signal: leave.signal });
      const reader = response.body?.getReader();
      let received = 0;
      for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
        received += next.value.length;
        if (received >= 1500) break;
      }
      expect(received).toBeGreaterThanOrEqual(1500);
      leave.abort();
    });
  },
);

test("states the length in the header of a flac answer", async () => {
  const input = "A sentence of some length. And another.";
  const flac = Buffer.from(await (await speak({ response_format: "flac", input })).arrayBuffer());
  const pcm = await (await speak({ response_format: "pcm", input })).arrayBuffer();
  // STREAMINFO ends with 36 bits of total samples and the checksum (RFC 9639, section 8.2).
  expect(Number(flac.readBigUInt64BE(18) & 0xf_ffff_ffffn)).toBe(pcm.byteLength / 2);
});

test("frees the model and counts the audio when the client disconnects mid-stream", async () => {
  for (let time = 0; time < 8; time += 1) {
    const leave = new AbortController();
    const response = await speak({ model: "hesitant", input: "One sentence. And two." }, { signal: leave.signal });
    await response.body?.getReader().read();
    leave.abort();
  }
  const left = () => service.log().filter((line) => line.outcome === "client-left" && line.model === "hesitant");
  await expect.poll(() => left().length).toBeGreaterThanOrEqual(8);
  expect((await speak({ model: "hesitant" })).status).toBe(200);
});

test("completes 32 concurrent requests", async () => {
  const sizes = await Promise.all(
    Array.from({ length: 32 }, async () => (await (await speak({ response_format: "opus" })).arrayBuffer()).byteLength),
  );
  const [first = 0] = sizes;
  expect(first).toBeGreaterThan(1000);
  expect(new Set(sizes).size).toBe(1);
});

test("streams audio events and ends with the usage", async () => {
  const response = await speak({ stream_format: "sse", response_format: "pcm", input: "Hello there. And you." });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const events = parseEvents(await response.text()).map(({ data }) => JSON.parse(data));
  const done = events.pop();
  expect(events.length).toBeGreaterThanOrEqual(2);
  expect(events.every(({ type }) => type === "speech.audio.delta")).toBe(true);
  const seconds = Buffer.concat(events.map(({ audio }) => Buffer.from(audio, "base64"))).length / 2 / 24_000;
  expect(done).toEqual({
    type: "speech.audio.done",
    usage: {
      input_tokens: 21,
      output_tokens: 1,
      total_tokens: 22,
      input_characters: 21,
      output_audio_seconds: Number(seconds.toFixed(3)),
    },
  });
});

test.each(["pcm", "mp3", "wav"])("says when each word of %s is spoken, before its audio", async (response_format) => {
  const words = async (fields: object) => {
    const body = { stream_format: "sse", timestamp_granularities: ["word"], response_format, ...fields };
    const events = parseEvents(await (await speak(body)).text()).map(({ data }) => JSON.parse(data));
    expect(events[0].type).toBe("speech.audio.words");
    const timed = events.flatMap((event) => event.words ?? []);
    expect(timed.at(-1).end).toBeLessThanOrEqual(events.at(-1).usage.output_audio_seconds + 0.05);
    return timed as { word: string; start: number; end: number }[];
  };
  const input = "He paid $5, Dr. Wu. Then *he* left.";
  const usual = await words({ input });
  expect(usual.map(({ word }) => word).join(" ")).toBe("He paid $5, Dr. Wu. Then he left.");
  const [first, fifth] = [usual[0]?.start ?? 0, usual[5]?.start ?? 0];
  // 50 ms a character, and in MP3 the delay of its encoder.
  expect(first).toBeCloseTo(response_format === "mp3" ? 0.046 : 0, 3);
  expect(fifth - first).toBeCloseTo(19 * 0.05, 2);
  const fast = await words({ input, speed: 2 });
  expect((fast[5]?.start ?? 0) - (fast[0]?.start ?? 0)).toBeCloseTo((fifth - first) / 2, 2);
});

test.each([
  ["model", undefined, /Missing required parameter: 'model'/],
  ["input", undefined, /Missing required parameter: 'input'/],
  ["voice", undefined, /Missing required parameter: 'voice'/],
  ["input", "", /'input' is too small|at least 1 character/],
  ["input", " \n\t ", /only white space/],
  ["input", "😀😀", /nothing that can be spoken/],
  ["input", "?!…", /nothing that can be spoken/],
  ["input", "x".repeat(4097), /at most 4096 characters, not 4097/],
  ["input", "x".repeat(100_000), /at most 4096 characters, not 100000/],
  ["input", 7, /must be a string/],
  ["voice", "nobody", /no voice "nobody".*low, high/],
  ["voice", "", /voice/],
  ["voice", { id: "nobody" }, /no voice "nobody"/],
  ["response_format", "mp4", /"mp3" or "opus" or "aac" or "flac" or "wav" or "pcm"/],
  ["speed", 0.24, /at least 0.25, not 0.24/],
  ["speed", 4.01, /at most 4, not 4.01/],
  ["speed", "fast", /must be a number/],
  ["stream_format", "chunks", /"audio" or "sse"/],
  ["timestamp_granularities", ["word"], /Set 'stream_format' to "sse"/],
  ["model", "chatty", /performs chat, not speech/],
  ["sample_rate", 8000, /does not support 'sample_rate'/],
])("rejects an invalid %s (case %#)", async (field, value, message) => {
  const response = await speak({ [field]: value });
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: { message: string; param: string; type: string } };
  expect(error.message).toMatch(message);
  expect(error).toMatchObject({ type: "invalid_request_error", param: field });
});

test("takes instructions, which clients send by default, and names them where the model has no styles", async () => {
  const response = await speak({ model: "terse", input: "Ten signs.", instructions: "Whisper.", mood: "calm" });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-parlance-ignored-fields")).toBe("mood, instructions");
  const plain = await speak({ instructions: "" });
  expect(plain.headers.get("x-parlance-ignored-fields")).toBeNull();
});

test("limits the input to the deployment's max_input_characters", async () => {
  expect((await speak({ model: "terse", input: "Ten signs." })).status).toBe(200);
  const response = await speak({ model: "terse", input: "Eleven sign" });
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/at most 10 characters, not 11/);
});

test("returns 404 for an unknown model", async () => {
  const response = await speak({ model: "nothing" });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { code: "model_not_found", param: "model" } });
});

test.each([
  ["control characters", "a\u0000b\u0007c"],
  ["a lone surrogate", "before \uD83D after"],
  ["mixed directions", "Hello שלום and مرحبا \u202Ereversed\u202C"],
  ["a word of 4,096 characters", "x".repeat(4096)],
  ["emoji among words", "Good 👍🏽 morning 👩‍👩‍👧"],
  ["null for what is not set", "Hello."],
])("speaks %s", async (_name, input) => {
  const response = await speak({ input, response_format: "pcm", instructions: null, speed: null });
  expect(response.status).toBe(200);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(2000);
});

test("lists the voices of one model and of all, with OpenAI's names", async () => {
  const list = async (query: string) => {
    const response = await service.fetch(`/v1/audio/voices${query}`);
    return {
      status: response.status,
      ...((await response.json()) as { data: { id: string; model: string; voice: string }[] }),
    };
  };
  const one = await list("?model=hum");
  expect(one.data.slice(0, 2).map(({ id }) => id)).toEqual(["low", "high"]);
  expect(one.data.find(({ id }) => id === "nova")).toMatchObject({ model: "hum", voice: "low" });
  const all = await list("");
  expect(new Set(all.data.map(({ model }) => model))).toEqual(new Set(["hum", "hesitant", "terse"]));
  expect((await list("?model=chatty")).status).toBe(400);
  expect((await list("?model=none")).status).toBe(404);
});

test("maps errors to those of the official client", async () => {
  const refused = client.audio.speech.create({ model: "hum", voice: "nobody", input: "Hello." });
  await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
});
