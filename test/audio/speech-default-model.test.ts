/** Speech with the default voice, transcribed again by the default transcription model. */

import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseEvents } from "../../src/kernel/server-sent-events.ts";
import { wordErrors } from "../support/models/word-errors.ts";
import { type Service, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
models:
  - id: hibari
    task: speech
    deployments: [{ engine: kokoro, model: hibari, voices: { narrator: heart } }]
  - id: unchecked
    task: speech
    deployments: [{ engine: flite, language_check: false, voices: { heart: slt } }]
  - id: moonshine-base-en
    task: transcription
    deployments: [{ engine: moonshine, model: moonshine-base-en }]
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  const isSpeaking = async () => (await speak({})).status === 200;
  while (!(await isSpeaking())) await new Promise((resume) => setTimeout(resume, 500));
});
afterAll(() => service.stop());

const speak = (body: object) =>
  service.post("/v1/audio/speech", {
    model: "hibari",
    voice: "heart",
    input: "Hello.",
    response_format: "pcm",
    ...body,
  });

async function samplesOf(body: object): Promise<Float32Array> {
  const response = await speak(body);
  if (response.status !== 200) throw new Error(await response.text());
  return Float32Array.from(new Int16Array(await response.arrayBuffer()), (sample) => sample / 32_768);
}

test("speaks intelligibly with an OpenAI voice name", async () => {
  const client = service.client({ maxRetries: 20 });
  const spoken =
    "Doctor Smith bought twenty seven apples for nine dollars. Nobody knew why the lights had gone out that evening.";
  const written = "Dr. Smith bought 27 apples for $9.00. Nobody knew why the lights had gone out that evening.";
  const speech = await client.audio.speech.create({ model: "hibari", voice: "nova", input: written });
  const file = await toFile(Buffer.from(await speech.arrayBuffer()), "spoken.mp3");
  const { text } = await client.audio.transcriptions.create({ model: "moonshine-base-en", file });
  const transcript = text.replace("Dr.", "Doctor").replace("27", "twenty seven").replace("$9", "nine dollars");
  expect(wordErrors(spoken, transcript), text).toBeLessThanOrEqual(2);
});

test.each(["mp3", "opus", "aac", "flac", "wav"] as const)(
  "transcribes its own speech from %s",
  async (response_format) => {
    const client = service.client({ maxRetries: 20 });
    const input = "The quick brown fox jumps over the lazy dog.";
    const speech = await client.audio.speech.create({ model: "hibari", voice: "heart", input, response_format });
    const file = await toFile(Buffer.from(await speech.arrayBuffer()), `spoken.${response_format}`);
    const { text } = await client.audio.transcriptions.create({ model: "moonshine-base-en", file });
    expect(wordErrors(input, text), text).toBeLessThanOrEqual(1);
  },
);

test("says when each written word is spoken, and its fallback that it cannot", async () => {
  const input = "Dr. Smith paid $9.99 for 5 km. Then he went home.";
  const body = { input, stream_format: "sse", timestamp_granularities: ["word"], response_format: "wav" };
  const events = parseEvents(await (await speak(body)).text()).map(({ data }) => JSON.parse(data));
  const words: { word: string; start: number; end: number }[] = events.flatMap((event) => event.words ?? []);
  expect(words.map(({ word }) => word).join(" ")).toBe(input);
  const times = words.flatMap(({ start, end }) => [start, end]);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(times.at(-1)).toBeLessThanOrEqual(events.at(-1).usage.output_audio_seconds);
  // "nine dollars and ninety nine cents"
  const [amount, then] = [words[3], words[7]];
  expect((amount?.end ?? 0) - (amount?.start ?? 0)).toBeGreaterThan(1);
  const samples = await samplesOf({ input });
  const onsetOf = (from: number) =>
    samples.findIndex((sample, index) => index > from * 24_000 && Math.abs(sample) > 0.02) / 24_000;
  for (const [word, from] of [
    [words[0], 0],
    [then, words[6]?.end ?? 0],
  ] as const) {
    expect(Math.abs((word?.start ?? 0) - onsetOf(from + 0.05))).toBeLessThan(0.15);
  }
  const refused = await speak({ ...body, model: "unchecked" });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: {
      param: "timestamp_granularities",
      message: expect.stringMatching(/`unchecked` .*these models do: `hibari`/),
    },
  });
});

test("joins sentences without a click", async () => {
  const samples = await samplesOf({ input: "One sentence here. Another one there. And a third." });
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const steps = samples.slice(1).map((sample, index) => Math.abs(sample - (samples[index] ?? 0)));
  expect(loudest).toBeGreaterThan(0.05);
  expect(loudest).toBeLessThanOrEqual(1);
  expect(Math.max(...steps)).toBeLessThan(loudest);
  expect(Math.abs(samples[0] ?? 1)).toBeLessThan(0.001);
  expect(Math.abs(samples.at(-1) ?? 1)).toBeLessThan(0.001);
});

test("scales the length of the audio with text and speed", async () => {
  const input = "The quick brown fox jumps over the lazy dog.";
  const [usual, fast, twice] = await Promise.all([
    samplesOf({ input }),
    samplesOf({ input, speed: 2 }),
    samplesOf({ input: `${input} ${input}` }),
  ]);
  expect(usual.length / 24_000).toBeGreaterThan(2);
  expect(usual.length / 24_000).toBeLessThan(5);
  expect(fast.length / usual.length).toBeGreaterThan(0.4);
  expect(fast.length / usual.length).toBeLessThan(0.6);
  expect(twice.length / usual.length).toBeGreaterThan(1.8);
});

test("accepts OpenAI's and configured voice names, and lists the voices for an unknown one", async () => {
  for (const voice of ["alloy", "cedar", "narrator"]) expect((await speak({ voice })).status, voice).toBe(200);
  const refused = await speak({ voice: "nobody" });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toMatch(/no voice .*heart.*alloy.*narrator/);
});

test("rejects a text without English words", async () => {
  const response = await speak({ input: "日本語だけ。" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: "input", message: expect.stringMatching(/English/) } });
});

test.each([
  ["Cyrillic", "Привет, как дела? Сегодня хорошая погода."],
  ["Greek", "Καλημέρα σας, πώς είστε;"],
  ["German", "Der Zug nach Hamburg fährt heute leider erst um halb neun ab."],
  ["French", "Le train pour Lyon partira ce matin avec vingt minutes de retard."],
  ["Spanish", "Ella nunca había visto el mar antes de ese día."],
])("rejects %s and lists the voice's languages", async (_language, input) => {
  const response = await speak({ input });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { param: "input", code: "unsupported_language", message: expect.stringContaining("English (en)") },
  });
});

test("states its languages", async () => {
  const voices = (await (await service.fetch("/v1/audio/voices?model=hibari")).json()) as { data: object[] };
  for (const voice of voices.data) expect(voice).toMatchObject({ languages: ["en"] });
  const models = await service.fetch("/v1/models?include_metadata=true");
  const { data } = (await models.json()) as { data: { id: string; metadata: object }[] };
  expect(data.find(({ id }) => id === "hibari")?.metadata).toMatchObject({
    languages: ["en"],
    capabilities: { word_times: true },
  });
});

test("speaks another language where the deployment turns the check off", async () => {
  const response = await speak({
    model: "unchecked",
    input: "Je suis très fatigué aujourd'hui et je vais me coucher avec un bon livre.",
  });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
});

test.each([["?!…"], ["😀😀"], ["---"]])("rejects %j, which contains nothing to speak", async (input) => {
  const response = await speak({ input });
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/nothing that can be spoken/);
});

test("rejects a voice mix for a model without mixing", async () => {
  const response = await speak({ voice: "heart+alloy" });
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/no voice \\"heart\+alloy/);
});

test("serves other requests after a client disconnects mid-stream", async () => {
  const leave = new AbortController();
  const input = "One more sentence that nobody will hear. ".repeat(90);
  const response = await service.post(
    "/v1/audio/speech",
    { model: "hibari", voice: "heart", input, response_format: "pcm" },
    { signal: leave.signal },
  );
  const first = await response.body?.getReader().read();
  expect(first?.value?.length).toBeGreaterThan(0);
  leave.abort();
  const left = () => service.log().filter((line) => line.outcome === "client-left");
  await expect.poll(() => left().length).toBe(1);
  expect((await samplesOf({ input: "Here I am." })).length).toBeGreaterThan(2400);
});
