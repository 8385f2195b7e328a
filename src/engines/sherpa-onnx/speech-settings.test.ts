import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import type { Task } from "../../contracts/task.ts";
import { sherpaOnnxSettings } from "./settings.ts";
import { sherpaOnnxEngine } from "./sherpa-onnx-engine.ts";
import { SPEECH_FAMILIES } from "./speech-families.ts";

const open = (settings: object, task: Task = "speech") =>
  sherpaOnnxEngine.open(sherpaOnnxSettings.parse(settings), task, makeEngineServices());

test.each([
  [{ family: "whisper", files: { model: "m" } }, /to be one of piper, vits, matcha, kokoro, kitten/],
  [{ family: "vits", files: { model: "package.json" } }, /vits needs files\.tokens/],
  [{ family: "kokoro", files: { model: "package.json", tokens: "package.json" } }, /kokoro needs files\.voices/],
  [{ family: "vits", files: { model: "nowhere.onnx", tokens: "package.json" } }, /nowhere\.onnx cannot be read/],
])("refuses to speak with %j", async (settings, message) => {
  await expect(open(settings)).rejects.toThrow(message);
});

test("refuses to transcribe with a speech model", async () => {
  await expect(open({ family: "vits", files: { model: "package.json" } }, "transcription")).rejects.toThrow(
    /vits is for speech, not for transcription/,
  );
});

test("omits optional files that are not set", () => {
  expect(SPEECH_FAMILIES.vits.configure({ model: "m", tokens: "t" })).toEqual({ vits: { model: "m", tokens: "t" } });
  expect(SPEECH_FAMILIES.vits.configure({ model: "m", tokens: "t", data: "d" })).toEqual({
    vits: { model: "m", tokens: "t", dataDir: "d" },
  });
});

test("describes a voice of Piper by its name", async () => {
  const settings = sherpaOnnxSettings.parse({ model: "piper:de_DE-thorsten-medium" });
  expect(settings.family).toBe("piper");
  const description = await sherpaOnnxEngine.describe?.(settings, "speech", makeEngineServices());
  expect(description).toMatchObject({ task: "speech", languages: ["de"] });
});

test.each([
  [{ model: "thorsten" }, /must be a voice of Piper/],
  [{ model: "piper:de_DE-thorsten-medium", family: "vits" }, /has to be piper, or left out/],
  [{ files: { model: "m" } }, /family.*is required without `model`/s],
])("refuses the settings %j", (settings, message) => {
  expect(() => sherpaOnnxSettings.parse(settings)).toThrow(message);
});
