/** Whisper's base model with its real weights: recordings in which the language changes. */

import { resolve } from "node:path";
import { Decoder } from "@parlance-inference/audio/decode";
import { beforeAll, expect, vi } from "vitest";
import { testModelStore } from "../../../test/support/models/default-model.ts";
import { makeTranscriptionRequest, uploadedFile } from "../../../test/support/service/transcription-request.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { TranscriptionRequest } from "../../contracts/transcription-model.ts";
import { WhisperTranscription } from "./whisper-transcription.ts";

const test = oncePerState(import.meta.filename);

// A window takes seconds on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const RATE = 16_000;
const PATH = resolve(import.meta.dirname, "../../../test/recordings");
const FRENCH = /bonjour,? les? monde/i;
/** Whisper may write down once what it hears twice. */
const ENGLISH_THEN_FRENCH = /not an ill[- ]?\w*sposed young man.*bonjour,? les? monde/i;
const FRENCH_THEN_ENGLISH = /bonjour,? les? monde.*not an ill[- ]?\w*sposed young man/i;

let model: WhisperTranscription;
let english: number[];
let french: number[];
beforeAll(async () => {
  english = await recording("speech.flac");
  french = await recording("french.flac");
  model = await load();
});

async function recording(name: string): Promise<number[]> {
  const decoder = new Decoder();
  const order = { path: resolve(PATH, name), sampleRate: RATE, maxSeconds: 60 };
  const pieces = await Array.fromAsync(decoder.decode(order, new AbortController().signal));
  decoder.close();
  return pieces.flatMap((piece) => [...piece]);
}

async function load(languages?: readonly string[]): Promise<WhisperTranscription> {
  const { paths } = await testModelStore().pull({ model: "whisper-base" }, { signal: new AbortController().signal });
  const path = (name: string) => paths[name] ?? "";
  const files = { model: path("model.bin"), tokenizer: path("tokenizer.json"), config: path("config.json") };
  return WhisperTranscription.load({
    paths: { ...files, vad: path("vad.onnx") },
    languages,
    translates: true,
    beamSize: 1,
    bestOf: 1,
    computeType: "auto",
    speakerModel: undefined,
    slots: 1,
    threads: undefined,
  });
}

/** The text and language of pieces of speech with a pause after each. */
async function transcribe(
  model: WhisperTranscription,
  pieces: readonly (readonly number[])[],
  changes: Partial<TranscriptionRequest> = {},
  pauseSeconds = 1,
) {
  const pause = new Array<number>(pauseSeconds * RATE).fill(0);
  const samples = (async function* () {
    yield Float32Array.from(pieces.flatMap((piece) => [...piece, ...pause]));
  })();
  const file = uploadedFile(resolve(PATH, "speech.flac"), "speech.flac");
  const request = makeTranscriptionRequest({ samples, file, ...changes });
  const events = await Array.fromAsync(model.transcribe(request, new AbortController().signal));
  const segments = events.filter((event) => event.type === "segment");
  const finish = events.find((event) => event.type === "finish");
  return { segments, text: segments.map(({ text }) => text).join(" "), language: finish?.language };
}

test.each([1, 3])("transcribes each language after a pause of %i s in itself", async (pauseSeconds) => {
  const pieces = [english, english, french, french];
  const { segments, text, language } = await transcribe(model, pieces, { wordTimes: true }, pauseSeconds);
  expect(text).toMatch(ENGLISH_THEN_FRENCH);
  expect(language).toBe("en");
  const starts = segments.flatMap(({ words }) => (words ?? []).map(({ startSeconds }) => startSeconds));
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
});

test("names the language that was spoken longest, not the first one", async () => {
  const { text, language } = await transcribe(model, [french, english, english]);
  expect(text).toMatch(FRENCH_THEN_ENGLISH);
  expect(language).toBe("en");
});

test("keeps a language that the caller names", async () => {
  const { text, language } = await transcribe(model, [english, french, french], { language: "en" });
  expect(text).not.toMatch(FRENCH);
  expect(language).toBe("en");
});

test("detects only languages that the settings allow", async () => {
  const { language } = await transcribe(await load(["de", "es"]), [french, french]);
  expect(["de", "es"]).toContain(language);
});
