/** Transcription with the default model: response formats, file formats and invalid files. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeAudio } from "@parlance-inference/audio/encode";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { makeWave, noise } from "../support/service/wave.ts";

const MODEL = "moonshine-base-en";
const CONFIG = `
builtin_models: false
models:
  - id: ${MODEL}
    task: transcription
    deployments: [{ engine: moonshine, model: ${MODEL} }]
server: { max_audio_seconds: 60 }
`;
const SAID = /^(he )?was not an ill-disposed young man/i;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  await eventually(async () => expect((await post(makeWave())).status).toBe(200), 110);
});
afterAll(() => service.stop());

const recording = (name: string) => readFile(join(import.meta.dirname, "../recordings", name));

interface Answer {
  status: number;
  body: { text: string; usage: { seconds: number }; error: { message: string; param: string; code: string } };
}

async function post(content: Uint8Array, fields: Record<string, string> = {}, name = "audio"): Promise<Answer> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(content)]), name);
  for (const [field, value] of Object.entries({ model: MODEL, ...fields })) form.append(field, value);
  const response = await service.fetch("/v1/audio/transcriptions", { method: "POST", body: form });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

test.each([
  "speech.mp3",
  "speech.m4a",
  "speech.aac",
  "speech.flac",
  "speech.ogg",
  "speech.opus",
  "speech.webm",
  "speech.mkv",
  "speech.wav",
  "speech-with-picture.mp4",
])("transcribes %s, whatever the file name", async (name) => {
  const { status, body } = await post(await recording(name), {}, "something.txt");
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.text).toMatch(SAID);
  expect([3, 4]).toContain(body.usage.seconds);
});

test("streams deltas to the official client that add up to the transcript", async () => {
  const file = await toFile(await recording("speech.mp3"), "speech.mp3");
  const stream = await service.client().audio.transcriptions.create({ model: MODEL, file, stream: true });
  let text = "";
  const types = new Set<string>();
  for await (const event of stream) {
    types.add(event.type);
    if (event.type === "transcript.text.delta") text += event.delta;
    if (event.type === "transcript.text.done")
      expect(event).toMatchObject({
        text,
        usage: { type: "tokens", input_tokens: 4, total_tokens: expect.any(Number) },
      });
  }
  expect(text).toMatch(SAID);
  expect([...types]).toEqual(["transcript.text.delta", "transcript.text.segment", "transcript.text.done"]);
});

test("returns times within the recording and null for unknown values in verbose_json", async () => {
  const file = await toFile(await recording("speech.flac"), "speech.flac");
  const verbose = await service.client().audio.transcriptions.create({
    model: MODEL,
    file,
    response_format: "verbose_json",
    timestamp_granularities: ["segment"],
  });
  expect(verbose).toMatchObject({ task: "transcribe", language: "english", text: expect.stringMatching(SAID) });
  expect(verbose.duration).toBeCloseTo(2.99, 1);
  expect(verbose.segments).toHaveLength(1);
  const [segment] = verbose.segments ?? [];
  expect(segment).toMatchObject({ id: 0, tokens: [], avg_logprob: 0, no_speech_prob: 0, temperature: 0 });
  expect(verbose).toMatchObject({ x_unknown: ["tokens", "avg_logprob", "no_speech_prob"] });
  expect(segment?.start).toBeGreaterThanOrEqual(0);
  expect(segment?.end).toBeGreaterThan(segment?.start ?? 0);
  expect(segment?.end).toBeLessThanOrEqual(Number(verbose.duration));
});

/** Chords with a drum on each beat. */
function music(): (index: number) => number {
  const chords = [
    [262, 330, 392],
    [220, 262, 330],
    [175, 220, 262],
    [196, 247, 294],
  ];
  const hiss = noise();
  return (index) => {
    const seconds = index / 16_000;
    const tones = chords[Math.floor(seconds) % chords.length] ?? [];
    const harmony = tones.reduce((sum, hertz) => sum + Math.sin(2 * Math.PI * hertz * seconds), 0) / 6;
    const sinceBeat = seconds % 0.5;
    return harmony * Math.exp(-2 * (seconds % 1)) + 0.4 * hiss() * Math.exp(-30 * sinceBeat);
  };
}

test.each([
  ["music", makeWave({ seconds: 8, sample: music() })],
  ["silence", makeWave({ seconds: 5 })],
  ["noise", makeWave({ seconds: 5, sample: noise() })],
  [
    "a tune",
    makeWave({
      seconds: 5,
      sample: (index) => 0.4 * Math.sin((index * 2 * Math.PI * (220 + 55 * Math.floor(index / 4000))) / 16_000),
    }),
  ],
  ["ten milliseconds", makeWave({ seconds: 0.01 })],
])("writes no words for %s", async (_name, wave) => {
  const { status, body } = await post(wave);
  expect({ status, text: body.text }).toEqual({ status: 200, text: "" });
});

test("accepts eight channels and a sample rate of 192 kHz", async () => {
  const { status } = await post(makeWave({ rate: 192_000, channels: 8 }));
  expect(status).toBe(200);
});

test("accepts a header that declares more data than there is", async () => {
  const { status, body } = await post(makeWave({ seconds: 2, statedBytes: 2 ** 32 - 100 }));
  expect({ status, seconds: body.usage?.seconds }).toEqual({ status: 200, seconds: 2 });
});

test.each([0.85, 0.9])(
  "writes no words after the end of speech that is cut off at %d of a recording",
  async (share) => {
    const wave = await recording("speech.wav");
    const { body } = await post(wave.subarray(0, Math.round(share * wave.length)));
    expect(body.text).toMatch(/^he was not an ill-disposed young man\W*$/i);
  },
);

test("transcribes the available part of a truncated mp3", async () => {
  const { status, body } = await post((await recording("speech.mp3")).subarray(0, 7000));
  expect(status).toBe(200);
  expect(body.text).toMatch(/^he was not/i);
});

test.each([
  ["a text", async () => Buffer.from("This is not audio. ".repeat(50))],
  ["one byte", async () => Buffer.from("x")],
  ["an empty file", async () => Buffer.alloc(0)],
  ["a truncated m4a", async () => (await recording("speech.m4a")).subarray(0, 7000)],
  ["the beginning of an m4a", async () => (await recording("speech.m4a")).subarray(0, 28)],
  ["the beginning of a webm", async () => (await recording("speech.webm")).subarray(0, 300)],
  ["a wav of 0 Hz", async () => makeWave({ rate: 0 })],
  ["a wav of 1 bit", async () => makeWave({ bits: 1 })],
  ["a wav of no channels", async () => makeWave({ seconds: 0, channels: 0 })],
  ["a wav of 60,000 channels", async () => makeWave({ seconds: 0.01, channels: 60_000 })],
])("rejects %s as an invalid file, not with a server error", async (_name, make) => {
  const { status, body } = await post(await make(), {}, "audio.mp3");
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ param: "file", code: "invalid_value", type: "invalid_request_error" });
});

test("rejects a small file that decodes to an overlong recording", async () => {
  const minute = Float32Array.from({ length: 60 * 16_000 });
  const samples = (async function* () {
    for (let minutes = 0; minutes < 10; minutes += 1) yield minute;
  })();
  const bomb = Buffer.concat(await Array.fromAsync(encodeAudio(samples, { format: "flac", sampleRate: 16_000 })));
  expect(bomb.length).toBeLessThan(500_000);
  for (const file of [bomb, makeWave({ seconds: 61 })]) {
    const { status, body } = await post(file);
    expect(status).toBe(400);
    expect(body.error.message).toContain("longer than 60 seconds");
  }
});

test.each([
  ["language", { language: "de" }, "unsupported_value", "it knows en"],
  ["language", { language: "klingon" }, "unsupported_value", "it knows en"],
  ["prompt", { prompt: "Names: Dashwood." }, "unsupported_value", "prompt"],
  ["temperature", { temperature: "0.5" }, "unsupported_value", "temperature"],
  ["temperature", { temperature: "1.5" }, "decimal_above_max_value", "at most 1"],
  ["temperature", { temperature: "warm" }, "invalid_type", "number"],
  ["response_format", { response_format: "xml" }, "invalid_value", "verbose_json"],
  ["response_format", { response_format: "diarized_json" }, "unsupported_value", "speaker diarization"],
  ["response_format", { response_format: "srt", stream: "true" }, "unsupported_value", "stream"],
  ["include", { "include[]": "logprobs" }, "unsupported_value", "include"],
  [
    "timestamp_granularities",
    { response_format: "verbose_json", "timestamp_granularities[]": "word" },
    "unsupported_value",
    "word times",
  ],
  ["stream", { stream: "maybe" }, "invalid_value", "true or false"],
  ["temprature", { temprature: "1" }, "unknown_parameter", "Did you mean 'temperature'?"],
  ["diarize", { diarize: "true" }, "unsupported_value", "speaker diarization"],
])("rejects %s %o", async (param, fields, code, message) => {
  const { status, body } = await post(await recording("speech.opus"), fields as unknown as Record<string, string>);
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ param, code });
  expect(body.error.message).toContain(message);
});

test("always accepts temperature 0, an empty prompt and any chunking strategy", async () => {
  const fields = { temperature: "0", prompt: "", language: "en", "chunking_strategy[type]": "server_vad" };
  const { status, body } = await post(await recording("speech.opus"), fields);
  expect(status, JSON.stringify(body)).toBe(200);
});

test("rejects translation with a model that cannot translate", async () => {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(await recording("speech.opus"))]), "speech.opus");
  form.append("model", MODEL);
  const response = await service.fetch("/v1/audio/translations", { method: "POST", body: form });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: "model", code: "unsupported_value" } });
});
