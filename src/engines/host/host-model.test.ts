import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ask, closeHosted, isRunning, openHosted } from "../../../test/support/models/host-fixture.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { makeTranscriptionRequest, uploadedFile } from "../../../test/support/service/transcription-request.ts";

afterEach(closeHosted);

test("proxies a chat model's facts, events and finish", async () => {
  const { model } = await openHosted("chat");
  expect(model).toMatchObject({ task: "chat", slots: 2, device: "cpu", contextWindow: 100 });
  const { text, finish } = await readAnswer(ask(model, "count 1000"));
  expect(text.split(" ")).toHaveLength(1001);
  expect(finish).toMatchObject({ usage: { completionTokens: 1 } });
});

test("proxies moderation, speech and transcription models", async () => {
  const never = new AbortController().signal;
  const { model: moderation } = await openHosted("moderation");
  const verdicts = await moderation.moderate([{ text: "four", images: [] }], never);
  expect(verdicts[0]?.scores).toEqual({ length: 4 });

  const { model: speech } = await openHosted("speech");
  expect(speech.sampleRate).toBe(8000);
  const request = { model: "m", text: "abc", voice: "hum", speed: 1, instructions: undefined };
  const spoken = await Array.fromAsync(speech.speak(request, never));
  expect(spoken).toEqual([new Float32Array([0, 0.1, 0.2])]);

  const { model: transcription } = await openHosted("transcription");
  const events = await Array.fromAsync(transcription.transcribe(recording(samples(3)), never));
  expect(events.map((event) => (event.type === "finish" ? event.audioSeconds : event.text))).toEqual([
    "1",
    "2",
    "3",
    3,
  ]);
});

test("decodes the recordings of known speakers for the model's process, and stops on abort", async () => {
  const { model } = await openHosted("transcription");
  const leaving = new AbortController();
  const readVoices = async (signal: AbortSignal) => {
    signal.throwIfAborted();
    return [new Float32Array(1), new Float32Array(1)];
  };
  const request = { ...recording(samples(5)), speakers: { names: ["Ann", "Ben"], references: ["", ""], readVoices } };
  const hear = () => Array.fromAsync(model.transcribe(request, leaving.signal));
  expect((await hear()).at(-1)).toMatchObject({ type: "finish", audioSeconds: 2 });
  leaving.abort();
  expect(await hear()).toEqual([]);
});

test("sends a recording only as fast as the model reads it, and forwards its failure", async () => {
  const { model } = await openHosted("transcription");
  const never = new AbortController().signal;
  async function* broken() {
    yield new Float32Array(1);
    throw new Error("the file is cut off");
  }
  await expect(Array.fromAsync(model.transcribe(recording(broken()), never))).rejects.toThrow("the file is cut off");
  const abort = new AbortController();
  let isReturned = false;
  async function* endless() {
    try {
      for (;;) yield new Float32Array(1);
    } finally {
      isReturned = true;
    }
  }
  for await (const _ of model.transcribe(recording(endless()), abort.signal)) abort.abort();
  await eventually(() => expect(isReturned).toBe(true));
});

test("rethrows the model's Faults with all their fields, and other errors as errors", async () => {
  const { model } = await openHosted("chat");
  await expect(readAnswer(ask(model, "fault"))).rejects.toMatchObject({
    name: "Fault",
    kind: "invalid-request",
    message: "No.",
    code: "unsupported_value",
    param: "messages",
    cause: "reason",
  });
  await expect(readAnswer(ask(model, "bug"))).rejects.toMatchObject({
    name: "TypeError",
    message: "undefined is not a function",
    stack: expect.stringContaining("hosted-child"),
  });
});

test("buffers events for a slow reader without delaying the model", async () => {
  const { model } = await openHosted("chat");
  const slow = ask(model, "count 5000")[Symbol.asyncIterator]();
  await slow.next();
  expect((await readAnswer(ask(model, "count 5"))).text).toBe("1 2 3 4 5 ");
  let read = 1;
  for (let next = await slow.next(); !next.done; next = await slow.next()) read += 1;
  expect(read).toBe(5001);
});

test("passes only the listed environment variables to the model's process", async () => {
  process.env.DATABASE_URL = "postgres://secret";
  process.env.UPSTREAM_KEY = "sk-secret";
  try {
    const { model } = await openHosted("chat");
    const { text } = await readAnswer(ask(model, "environment"));
    expect(JSON.parse(text)).toHaveProperty("PATH");
    expect(text).not.toContain("secret");
  } finally {
    delete process.env.DATABASE_URL;
    delete process.env.UPSTREAM_KEY;
  }
});

test("logs the process's output at debug and the model's warnings", async () => {
  const { model, logged } = await openHosted("chat", { warning: "no template" });
  await readAnswer(ask(model, "print a-native-line"));
  await eventually(() => {
    expect(logged.join("")).toMatch(/"level":"debug".*a-native-line/);
    expect(logged.join("")).toMatch(/"level":"warn".*no template/);
  });
});

test("throws the model's own Fault when opening fails, and leaves no process", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-host-"));
  try {
    const failWhenExists = join(directory, "gone");
    await writeFile(failWhenExists, "");
    await expect(openHosted("chat", { failWhenExists })).rejects.toMatchObject({
      message: "The weights are gone.",
      retryAfterSeconds: 7,
    });
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("stops opening when the service stops", async () => {
  const abort = new AbortController();
  const opening = openHosted("chat", { openMs: 60_000 }, abort.signal);
  setTimeout(() => abort.abort(), 300);
  await expect(opening).rejects.toMatchObject({ kind: "unavailable" });
});

test("ends requests in flight with a Fault on close, ends the process and rejects later calls", async () => {
  const { model } = await openHosted("chat");
  const { pid } = model;
  const running = readAnswer(ask(model, "forever"));
  await expect(Promise.all([running, model.close(), model.close()])).rejects.toMatchObject({ code: "engine_failed" });
  await eventually(() => expect(isRunning(pid)).toBe(false));
  await expect(readAnswer(ask(model, "count 1"))).rejects.toMatchObject({ kind: "unavailable" });
  expect(model.health().state).toBe("failed");
});

async function* samples(items: number) {
  for (let length = 1; length <= items; length++) yield new Float32Array(length);
}

function recording(samples: AsyncIterable<Float32Array>) {
  return makeTranscriptionRequest({ samples, file: uploadedFile("/dev/null", "a.wav") });
}
