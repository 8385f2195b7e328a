/** The behavior that all local transcription engines share. A new engine adds one row to `SUBJECTS`. */

import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Decoder } from "@parlance-inference/audio/decode";
import { afterAll, beforeAll, describe, expect, vi, test as vitestTest } from "vitest";
import { testModelStore } from "../../test/support/models/default-model.ts";
import { makeEngineServices } from "../../test/support/models/engine-services.ts";
import { moonshineTokens } from "../../test/support/models/moonshine-tokens.ts";
import { wordErrors } from "../../test/support/models/word-errors.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { makeTranscriptionRequest, uploadedFile } from "../../test/support/service/transcription-request.ts";
import { oncePerState } from "../../test/support/unchanged/once-per-state.ts";
import type { TranscriptionEvent, TranscriptionModel } from "../contracts/transcription-model.ts";
import { invalidRequest } from "../kernel/faults.ts";
import { openModel } from "./registry.ts";
import { scriptedSettings } from "./scripted/settings.ts";
import { isSherpaOnnxInstalled } from "./sherpa-onnx/load-sherpa-onnx.ts";
import { sherpaOnnxSettings } from "./sherpa-onnx/settings.ts";

const once = oncePerState(import.meta.filename);

// A minute of speech takes a long time on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const SAID = "He was not an ill-disposed young man.";
const SUBJECTS: Record<string, { kind: string; settings: object | (() => Promise<object>); isSkipped?: boolean }> = {
  scripted: { kind: "scripted", settings: scriptedSettings.parse({ replies: [{ text: SAID }] }) },
  moonshine: { kind: "moonshine", settings: { model: "moonshine-base-en", slots: 4, threads: undefined } },
  // Optional: without the package these tests are reported as skipped.
  "sherpa-onnx": { kind: "sherpa-onnx", settings: moonshineInSherpaOnnx, isSkipped: !isSherpaOnnxInstalled() },
  whisper: { kind: "whisper", settings: { model: "whisper-base", translates: true, slots: 4, threads: undefined } },
};

let folder: TemporaryDirectory | undefined;
afterAll(() => folder?.[Symbol.asyncDispose]());

/** sherpa-onnx reads the vocabulary from a file of tokens. */
async function moonshineInSherpaOnnx(): Promise<object> {
  const { paths } = await testModelStore().pull({ model: "moonshine-base-en" }, { signal: neverAborts() });
  const path = (name: string) => paths[name] ?? "";
  folder = await temporaryDirectory();
  const tokens = join(folder.path, "tokens.txt");
  await writeFile(tokens, moonshineTokens(await readFile(path("tokenizer.js"), "utf8")));
  const files = { encoder: path("encoder.onnx"), decoder: path("decoder.onnx"), tokens, vad: path("vad.onnx") };
  return sherpaOnnxSettings.parse({ family: "moonshine", files });
}

const RATE = 16_000;
const PATH = resolve(import.meta.dirname, "../../test/recordings/speech.flac");
const neverAborts = () => new AbortController().signal;
let recording: Float32Array[];
beforeAll(async () => {
  const decoder = new Decoder();
  const decoded = decoder.decode({ path: PATH, sampleRate: RATE, maxSeconds: 60 }, neverAborts());
  recording = await Array.fromAsync(decoded);
  decoder.close();
});
async function* speech() {
  for (const samples of recording) yield samples.slice();
}

/** Repeats the recording with half a second of silence in between. */
async function* repeated(times: number) {
  for (let round = 0; round < times; round += 1) {
    yield* speech();
    yield new Float32Array(RATE / 2);
  }
}

describe.each(Object.entries(SUBJECTS))("%s", (_name, { kind, settings, isSkipped = false }) => {
  let model: TranscriptionModel;
  beforeAll(async () => {
    if (isSkipped) return;
    const pull = (reference: { model: string } | { file: string } | { hf: string }, signal: AbortSignal) =>
      testModelStore().pull(reference, { signal });
    const chosen = typeof settings === "function" ? await settings() : settings;
    model = (await openModel(kind, chosen, "transcription", makeEngineServices({ pull }))) as TranscriptionModel;
  });
  afterAll(() => model?.close());
  const test = isSkipped ? vitestTest.skip : once;

  const transcribe = (samples: AsyncIterable<Float32Array>, changes: object = {}, signal = neverAborts()) => {
    const file = uploadedFile(PATH, "speech.flac");
    const request = makeTranscriptionRequest({ samples, file, ...changes });
    return model.transcribe(request, signal);
  };
  const textOf = (events: readonly TranscriptionEvent[]) =>
    events.map((event) => (event.type === "segment" ? event.text : "")).join(" ");

  test("transcribes in segments with ascending times and finishes once", async () => {
    const events = await Array.fromAsync(transcribe(speech(), { language: model.languages?.[0] }));
    expect(wordErrors(SAID, textOf(events)), textOf(events)).toBeLessThanOrEqual(2);
    const finish = events.at(-1);
    expect(events.filter(({ type }) => type === "finish")).toEqual([finish]);
    const audioSeconds = finish?.type === "finish" ? finish.audioSeconds : 0;
    expect(audioSeconds).toBeCloseTo(3, 0);
    let last = 0;
    for (const event of events) {
      if (event.type !== "segment") continue;
      expect(event.startSeconds).toBeGreaterThanOrEqual(last);
      expect(event.endSeconds).toBeGreaterThan(event.startSeconds);
      last = event.endSeconds;
    }
    expect(last).toBeLessThanOrEqual(audioSeconds + 0.01);
  });

  test("yields no segments for an empty recording and for silence", async () => {
    for (const seconds of [0, 2]) {
      const silence = (async function* () {
        yield new Float32Array(seconds * RATE);
      })();
      const events = await Array.fromAsync(transcribe(silence, { prompt: "x" }));
      if (kind !== "scripted") expect(events.map(({ type }) => type)).toEqual(["finish"]);
      expect(events.at(-1)).toMatchObject({ type: "finish", audioSeconds: seconds });
    }
  });

  test("keeps concurrent recordings apart", async () => {
    const all = await Promise.all([1, 2].map((times) => Array.fromAsync(transcribe(repeated(times)))));
    for (const [index, events] of all.entries()) {
      const rounds = kind === "scripted" ? 1 : index + 1;
      expect(wordErrors(`${SAID} `.repeat(rounds), textOf(events)), textOf(events)).toBeLessThanOrEqual(3 * rounds);
    }
  });

  test("stops without throwing on abort, closes the recording and serves the next one", async () => {
    const controller = new AbortController();
    let isReturned = false;
    const endless = (async function* () {
      try {
        for (;;) {
          yield* repeated(1);
          controller.abort();
        }
      } finally {
        isReturned = true;
      }
    })();
    const events = await Array.fromAsync(transcribe(endless, {}, controller.signal));
    expect(events.some(({ type }) => type === "finish")).toBe(false);
    await vi.waitUntil(() => isReturned, { timeout: 200_000 });
    expect(textOf(await Array.fromAsync(transcribe(speech())))).toMatch(/young man/i);
  });

  test("forwards the failure of a recording that cannot be read", async () => {
    const broken = (async function* () {
      yield new Float32Array(RATE);
      throw invalidRequest("The file is cut off.", "file");
    })();
    await expect(Array.fromAsync(transcribe(broken))).rejects.toMatchObject({ name: "Fault", param: "file" });
  });
});
