import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { closeHosted, openHosted, runs, tell } from "../../../test/support/host-fixture.ts";
import { readAnswer } from "../../../test/support/read-answer.ts";
import { makeTranscriptionRequest } from "../../../test/support/transcription-request.ts";

afterEach(closeHosted);

test("stands for a chat model: its facts, its events, its end", async () => {
  const { model } = await openHosted("chat");
  expect(model).toMatchObject({ task: "chat", slots: 2, device: "cpu", contextWindow: 100 });
  const { text, finish } = await readAnswer(tell(model, "count 1000"));
  expect(text.split(" ")).toHaveLength(1001);
  expect(finish).toMatchObject({ usage: { completionTokens: 1 } });
});

test("stands for a moderation, a speech and a transcription model", async () => {
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

test("sends a recording only as fast as it is listened to, and hands on its failure", async () => {
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

test("throws what the model throws: a Fault with all it says, a bug as an error", async () => {
  const { model } = await openHosted("chat");
  await expect(readAnswer(tell(model, "fault"))).rejects.toMatchObject({
    name: "Fault",
    kind: "invalid-request",
    message: "No.",
    code: "unsupported_value",
    param: "messages",
    cause: "reason",
  });
  await expect(readAnswer(tell(model, "bug"))).rejects.toMatchObject({
    name: "TypeError",
    message: "undefined is not a function",
    stack: expect.stringContaining("hosted-child"),
  });
});

test("keeps what comes until it is read: a slow reader does not hold the model back", async () => {
  const { model } = await openHosted("chat");
  const slow = tell(model, "count 5000")[Symbol.asyncIterator]();
  await slow.next();
  expect((await readAnswer(tell(model, "count 5"))).text).toBe("1 2 3 4 5 ");
  let read = 1;
  for (let next = await slow.next(); !next.done; next = await slow.next()) read += 1;
  expect(read).toBe(5001);
});

test("gives the model's process no more of the environment than it needs", async () => {
  process.env.DATABASE_URL = "postgres://secret";
  process.env.UPSTREAM_KEY = "sk-secret";
  try {
    const { model } = await openHosted("chat");
    const { text } = await readAnswer(tell(model, "environment"));
    expect(JSON.parse(text)).toHaveProperty("PATH");
    expect(text).not.toContain("secret");
  } finally {
    delete process.env.DATABASE_URL;
    delete process.env.UPSTREAM_KEY;
  }
});

test("logs what the process prints, at debug, and what the model warns of", async () => {
  const { model, logged } = await openHosted("chat", { warning: "no template" });
  await readAnswer(tell(model, "print a-native-line"));
  await eventually(() => {
    expect(logged.join("")).toMatch(/"level":"debug".*a-native-line/);
    expect(logged.join("")).toMatch(/"level":"warn".*no template/);
  });
});

test("throws the model's own Fault when it cannot be opened, and leaves no process", async () => {
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

test("closes: what runs ends with a Fault, the process is gone, what comes after is refused", async () => {
  const { model } = await openHosted("chat");
  const { pid } = model;
  const running = readAnswer(tell(model, "forever"));
  await expect(Promise.all([running, model.close(), model.close()])).rejects.toMatchObject({ code: "engine_failed" });
  await eventually(() => expect(runs(pid)).toBe(false));
  await expect(readAnswer(tell(model, "count 1"))).rejects.toMatchObject({ kind: "unavailable" });
  expect(model.health().state).toBe("failed");
});

async function* samples(items: number) {
  for (let length = 1; length <= items; length++) yield new Float32Array(length);
}

function recording(samples: AsyncIterable<Float32Array>) {
  return makeTranscriptionRequest({ samples, file: { path: "/dev/null", name: "a.wav", bytes: 1 } });
}
