import { expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { whisperEngine } from "./whisper-engine.ts";

const FILE = import.meta.filename;
const files = { model: FILE, tokenizer: FILE, config: FILE, vad: FILE };

test.each([
  [{}, "exactly one of"],
  [{ model: "a", files }, "exactly one of"],
  [{ files: { model: "/m" } }, "expected string"],
  [{ files: { ...files, tokens: "/t" } }, "tokens"],
  [{ model: "a", languages: ["english"] }, "ISO 639-1"],
  [{ model: "a", slots: 0 }, ">=1"],
  [{ model: "a", beam_size: 11 }, "<=10"],
  [{ model: "a", compute_type: "int8_float16" }, '"auto"|"int8"|"float32"'],
])("rejects %o", (settings, message) => {
  const { error } = whisperEngine.settings.safeParse(settings);
  expect(error?.issues.map((issue) => issue.message).join()).toContain(message);
});

test.each([
  ["chat", {}, "only transcription"],
  ["transcription", { config: "/nowhere/config.json" }, "/nowhere/config.json cannot be read"],
  ["transcription", {}, "not a CTranslate2 Whisper model"],
] as const)("fails to open for %s with %o", async (task, changes, message) => {
  const settings = whisperEngine.settings.parse({ files: { ...files, ...changes } });
  const opening = whisperEngine.open(settings, task, makeEngineServices());
  await expect(opening).rejects.toMatchObject({ name: "Fault", message: expect.stringContaining(message) });
});
