import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InferenceSession } from "onnxruntime-node";
import { PbfReader } from "pbf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testModelStore } from "../../../test/support/models/default-model.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { preparePiperVoice } from "./piper-voice.ts";

const SETTINGS = {
  audio: { sample_rate: 22_050, quality: "medium" },
  espeak: { voice: "en-us" },
  phoneme_type: "espeak",
  phoneme_id_map: { _: [0], "^": [1], " ": [3], ə: [59] },
  num_speakers: 2,
  speaker_id_map: { anne: 0, bob: 1 },
  language: { name_english: "English" },
};

let folder: TemporaryDirectory;
beforeEach(async () => {
  folder = await temporaryDirectory();
});
afterEach(() => folder[Symbol.asyncDispose]());

/** Any ONNX file works: the settings are appended to it. */
async function prepare(settings: unknown, text = JSON.stringify(settings)) {
  const config = join(folder.path, "voice.onnx.json");
  await writeFile(config, text);
  const { paths } = await testModelStore().pull({ model: "hibari" }, { signal: AbortSignal.timeout(60_000) });
  const model = paths["unknown-words.onnx"] ?? "";
  return preparePiperVoice({ model, config, data: "/data" });
}

function metadataOf(onnx: Uint8Array): Record<string, string> {
  const read = (tag: number, result: Record<string, string>, pbf: PbfReader) => {
    if (tag !== 14) return;
    const [key = "", value = ""] = pbf.readMessage<string[]>((_tag, pair, own) => pair.push(own.readString()), []);
    result[key] = value;
  };
  return new PbfReader(onnx).readFields(read, {});
}

test("adds the settings to the ONNX file, which still runs, and writes the phonemes to a tokens file", async () => {
  const { paths, voices, ...voice } = await prepare(SETTINGS);
  expect(metadataOf(await readFile(paths.model ?? ""))).toMatchObject({
    model_type: "vits",
    comment: "piper",
    language: "English",
    voice: "en-us",
    has_espeak: "1",
    n_speakers: "2",
    sample_rate: "22050",
  });
  const session = await InferenceSession.create(paths.model ?? "");
  expect(session.inputNames.length).toBeGreaterThan(0);
  await session.release();
  expect(await readFile(paths.tokens ?? "", "utf8")).toBe("_ 0\n^ 1\n  3\nə 59\n");
  expect(paths.data).toBe("/data");
  expect(voices).toEqual({ anne: 0, bob: 1 });
  expect(voice.languages).toEqual(["en"]);
  await voice[Symbol.asyncDispose]();
  await expect(access(paths.model ?? "")).rejects.toThrow("ENOENT");
});

test("names a single speaker after its dataset", async () => {
  await using voice = await prepare({ ...SETTINGS, num_speakers: 1, speaker_id_map: {}, dataset: "joe" });
  expect(voice.voices).toEqual({ joe: 0 });
});

test.each([
  ["no JSON", "{", /voice\.onnx\.json is not JSON/],
  ["something else", "{}", /not a Piper voice configuration: audio: /],
  ["a voice that reads letters", JSON.stringify({ ...SETTINGS, phoneme_type: "text" }), /phoneme_type: .*espeak/],
])("rejects settings: %s", async (_case, text, message) => {
  await expect(prepare(undefined, text)).rejects.toThrow(message);
});
