import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/engine-services.ts";
import { sherpaOnnxSettings } from "./settings.ts";
import { sherpaOnnxEngine } from "./sherpa-onnx-engine.ts";

test.each([
  [{}, "exactly one of"],
  [{ model: "a", files: {} }, "exactly one of"],
  [{ files: { tokens: "/t" } }, "is needed with"],
  [{ model: "a", family: "guesswork" }, "moonshine"],
  [{ model: "a", languages: ["english"] }, "ISO 639-1"],
  [{ model: "a", slots: 0 }, ">=1"],
])("refuses %o", (settings, message) => {
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
] as const)("%s with %o does not open", async (task, files, message) => {
  const settings = sherpaOnnxSettings.parse({ family: "whisper", files });
  const opening = sherpaOnnxEngine.open(settings, task, makeEngineServices());
  await expect(opening).rejects.toMatchObject({ name: "Fault", message: expect.stringContaining(message) });
});

test("files that are no model end the opening with a Fault, and no process stays", async () => {
  const own = import.meta.filename;
  const files = { encoder: own, decoder: own, tokens: own, vad: own };
  const settings = sherpaOnnxSettings.parse({ family: "whisper", files });
  await expect(sherpaOnnxEngine.open(settings, "transcription", makeEngineServices())).rejects.toThrow();
});
