/** The behavior that all local speech engines share. A new engine adds one row to `SUBJECTS`. */

import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { makeEngineServices } from "../../test/support/models/engine-services.ts";
import { oncePerState } from "../../test/support/unchanged/once-per-state.ts";
import type { EngineServices } from "../contracts/engine.ts";
import type { SpeechEvent, SpeechModel, SpeechRequest } from "../contracts/speech-model.ts";
import { Fault } from "../kernel/faults.ts";
import { createLogger } from "../kernel/logger.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import { openModel } from "./registry.ts";

const test = oncePerState(import.meta.filename);

const pull: EngineServices["pull"] = (reference, signal) => {
  const directory = process.env.PARLANCE_MODELS_DIR || resolve(import.meta.dirname, "../../.parlance/models");
  const hub = { endpoint: "https://huggingface.co", token: undefined, offline: true };
  return createModelStore({ modelsDirectory: directory, hub }, createLogger("silent")).pull(reference, { signal });
};

const SUBJECTS: Record<string, { kind: string; settings: object }> = {
  scripted: {
    kind: "scripted",
    settings: {
      replies: [],
      slots: 4,
      process: "parent",
      speech: {
        voices: ["low", "high"],
        sampleRate: 24_000,
        maxInputCharacters: 4096,
        delayMsBeforeFirst: 5,
        delayMsPerSentence: 5,
      },
    },
  },
  flite: {
    kind: "flite",
    settings: { voices: {}, slots: 8, maxInputCharacters: 4096, checksLanguage: false },
  },
  kokoro: {
    kind: "kokoro",
    settings: {
      model: "hibari",
      voices: {},
      slots: 8,
      threads: undefined,
      maxInputCharacters: 4096,
      checksLanguage: false,
    },
  },
};

const never = () => new AbortController().signal;
const SENTENCE = "The cat sat on the mat. ";

describe.each(Object.entries(SUBJECTS))("%s", (_name, { kind, settings }) => {
  let model: SpeechModel;
  const open = async () => (await openModel(kind, settings, "speech", makeEngineServices({ pull }))) as SpeechModel;
  beforeAll(async () => {
    model = await open();
  });
  afterAll(() => model.close());

  const speak = (overrides: Partial<SpeechRequest> = {}, signal = never()) => {
    const voice = model.voices?.[0] ?? "";
    const request = { model: "m", text: SENTENCE, voice, speed: 1, instructions: undefined };
    return model.speak({ ...request, ...overrides }, signal);
  };
  const isSamples = (event: SpeechEvent) => event instanceof Float32Array;
  const read = async (overrides: Partial<SpeechRequest> = {}, signal = never()) =>
    (await Array.fromAsync(speak(overrides, signal))).filter(isSamples);
  const lengthOf = (pieces: readonly Float32Array[]) => pieces.reduce((sum, { length }) => sum + length, 0);

  test("yields samples within full scale, one piece per sentence", async () => {
    const pieces = await read({ text: SENTENCE.repeat(3) });
    expect(pieces).toHaveLength(3);
    for (const piece of pieces) {
      expect(piece).toBeInstanceOf(Float32Array);
      expect(piece.length).toBeGreaterThan(model.sampleRate / 4);
      expect(piece.every((sample) => Math.abs(sample) <= 1)).toBe(true);
      expect(piece.some((sample) => Math.abs(sample) > 0.02)).toBe(true);
    }
  });

  test("halves the duration at twice the speed", async () => {
    const [usual, fast] = [lengthOf(await read()), lengthOf(await read({ speed: 2 }))];
    expect(fast / usual).toBeGreaterThan(0.4);
    expect(fast / usual).toBeLessThan(0.6);
  });

  test("speaks with each voice and alias that it lists", async () => {
    const names = [...(model.voices ?? []), ...Object.keys(model.voiceAliases)];
    expect(names).toContain("alloy");
    expect(names).toContain("verse");
    for (const voice of names) expect(lengthOf(await read({ voice, text: "Hi." })), voice).toBeGreaterThan(0);
  });

  test.each([
    ["an unknown voice", { voice: "nobody" }, "voice"],
    ["a voice named like an object's built-in property", { voice: "constructor" }, "voice"],
    ["text over the limit", { text: "a".repeat(4097) }, "input"],
    ["text without speech", { text: "?!" }, "input"],
    ["an unsupported SSML tag", { text: "<speak><prosody rate='slow'>Hi.</prosody></speak>" }, "input"],
    ["malformed SSML", { text: "<speak>Hi." }, "input"],
  ])("rejects %s before any sample", async (_case, overrides, param) => {
    const failure = await read(overrides).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(Fault);
    expect(failure).toMatchObject({ kind: "invalid-request", param });
  });

  test("pauses at an SSML break", async () => {
    const pieces = await read({ text: '<speak>One.<break time="1.5s"/>Two.</speak>' });
    expect(pieces).toHaveLength(3);
    expect(pieces[1]).toEqual(new Float32Array(1.5 * model.sampleRate));
  });

  test("says when each word is spoken, before its samples, if it can", async () => {
    const text = '<speak>The cat paid $5.<break time="1s"/>It sat.</speak>';
    const events = await Array.fromAsync(speak({ text, wordTimes: model.wordTimes }));
    const words = events.flatMap((event) => (isSamples(event) ? [] : event.words));
    expect(words.map(({ word }) => word)).toEqual(model.wordTimes ? ["The", "cat", "paid", "$5.", "It", "sat."] : []);
    const times = words.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    let before = 0;
    for (const event of events) {
      if (isSamples(event)) before += event.length / model.sampleRate;
      else for (const word of event.words) expect(word.startSeconds).toBeGreaterThanOrEqual(before);
    }
    expect(times.at(-1) ?? 0).toBeLessThanOrEqual(before + 1e-6);
    const [end = 0, next = 0] = [words[3]?.endSeconds, words[4]?.startSeconds];
    if (model.wordTimes) expect(next - end).toBeGreaterThan(0.99);
  });

  test("emits nothing when aborted before the start", async () => {
    expect(await read({}, AbortSignal.abort())).toEqual([]);
  });

  test("ends promptly and without throwing when aborted mid-stream", async () => {
    const abort = new AbortController();
    const pieces = speak({ text: SENTENCE.repeat(150) }, abort.signal)[Symbol.asyncIterator]();
    expect((await pieces.next()).done).toBe(false);
    abort.abort();
    let after = 0;
    while (!(await pieces.next()).done) after += 1;
    expect(after).toBeLessThan(100);
  });

  test("serves the next request after a reader stopped reading", async () => {
    for await (const _ of speak({ text: SENTENCE.repeat(20) })) break;
    expect(await read()).toHaveLength(1);
  });

  test("serves several concurrent requests completely", async () => {
    const lengths = (await Promise.all([1, 2, 3].map((count) => read({ text: SENTENCE.repeat(count) })))).map(
      ({ length }) => length,
    );
    expect(lengths).toEqual([1, 2, 3]);
  });

  test("finishes short texts before an earlier long one", async () => {
    const ended: string[] = [];
    const abort = new AbortController();
    const long = (async () => {
      for await (const _ of speak({ text: SENTENCE.repeat(150) }, abort.signal));
      ended.push("long");
    })();
    await Promise.all([read(), read(), read()]);
    ended.push("short");
    abort.abort();
    await long;
    expect(ended).toEqual(["short", "long"]);
  });

  test("fails a request in flight with a Fault on close and accepts a second close", async () => {
    const own = await open();
    const running = Array.fromAsync(
      own.speak({ model: "m", text: SENTENCE.repeat(150), voice: "alloy", speed: 1, instructions: undefined }, never()),
    ).then(
      () => undefined,
      (error: unknown) => error,
    );
    await new Promise((resume) => setTimeout(resume, 50));
    await own.close();
    await own.close();
    expect(await running).toBeInstanceOf(Fault);
  });
});
