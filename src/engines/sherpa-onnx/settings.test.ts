import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { isSherpaOnnxInstalled } from "./load-sherpa-onnx.ts";
import { sherpaOnnxSettings } from "./settings.ts";
import { sherpaOnnxEngine } from "./sherpa-onnx-engine.ts";

test.each([
  [{ files: {}, family: "whisper", model: "a" }, "voice of Piper"],
  [{ files: { tokens: "/t" } }, "moonshine"],
  [{ files: {}, family: "guesswork" }, "moonshine"],
  [{ files: {}, languages: ["english"] }, "ISO 639-1"],
  [{ files: {}, slots: 0 }, ">=1"],
])("rejects %o", (settings, message) => {
  const { error } = sherpaOnnxSettings.safeParse(settings);
  expect(error?.issues.map((issue) => issue.message).join()).toContain(message);
});

test.each([
  ["transcription", { encoder: import.meta.filename }, "needs files.decoder"],
  [
    "transcription",
    { encoder: import.meta.filename, decoder: "/nowhere/d", tokens: "/t", vad: "/v" },
    "/nowhere/d cannot be read",
  ],
  ["chat", {}, "only speech and transcription"],
] as const)("fails to open for %s with %o", async (task, files, message) => {
  const settings = sherpaOnnxSettings.parse({ family: "whisper", files });
  const opening = sherpaOnnxEngine.open(settings, task, makeEngineServices());
  await expect(opening).rejects.toMatchObject({ name: "Fault", message: expect.stringContaining(message) });
});

test.skipIf(!isSherpaOnnxInstalled())("fails to open files that are not a model", async () => {
  const own = import.meta.filename;
  const files = { encoder: own, decoder: own, tokens: own, vad: own };
  const settings = sherpaOnnxSettings.parse({ family: "whisper", files });
  await expect(sherpaOnnxEngine.open(settings, "transcription", makeEngineServices())).rejects.toThrow();
});
