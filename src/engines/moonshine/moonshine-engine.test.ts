import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { moonshineEngine } from "./moonshine-engine.ts";

const FILE = import.meta.filename;
const files = { encoder: FILE, decoder: FILE, tokenizer: FILE, vad: FILE };

test.each([
  [{}, "exactly one of"],
  [{ model: "a", files }, "exactly one of"],
  [{ files: { encoder: "/e" } }, "expected string"],
  [{ files: { ...files, tokens: "/t" } }, "tokens"],
  [{ model: "a", slots: 0 }, ">=1"],
  [{ model: "a", language_check: "maybe" }, "expected one of"],
])("rejects %o", (settings, message) => {
  const { error } = moonshineEngine.settings.safeParse(settings);
  expect(error?.issues.map((issue) => issue.message).join()).toContain(message);
});

test.each([
  ["chat", {}, "only transcription"],
  ["transcription", { decoder: "/nowhere/decoder.onnx" }, "/nowhere/decoder.onnx cannot be read"],
  ["transcription", {}, "does not hold Llama's vocabulary"],
] as const)("fails to open for %s with %o", async (task, changes, message) => {
  const settings = moonshineEngine.settings.parse({ files: { ...files, ...changes } });
  const opening = moonshineEngine.open(settings, task, makeEngineServices());
  await expect(opening).rejects.toMatchObject({ name: "Fault", message: expect.stringContaining(message) });
});
