import { expect, test } from "vitest";
import { testModelStore } from "../../test/support/models/default-model.ts";
import { moonshineEngine } from "../engines/moonshine/moonshine-engine.ts";
import { createLogger } from "../kernel/logger.ts";
import { ModelOpener } from "./model-opener.ts";

test("counts the files of models that a model uses, from which its memory is estimated", async () => {
  const store = testModelStore();
  const signal = new AbortController().signal;
  await store.pull({ model: "whisper-base" }, { signal });
  const opener = new ModelOpener({ store, logger: createLogger("silent"), onPullProgress: () => {} });
  const bytesWith = async (check: string) => {
    const { fileBytes, contextBytes } = await opener.prepare({
      name: "transcribes",
      entry: "transcribes",
      catalogId: "transcribes",
      engine: "moonshine",
      task: "transcription",
      settings: moonshineEngine.settings.parse({ model: "moonshine-base-en", language_check: check }),
      signal,
    });
    expect(contextBytes).toBe(0);
    return fileBytes;
  };
  const alone = await bytesWith("off");
  expect(alone).toBeGreaterThan(60e6);
  // The language check loads Whisper's weights.
  expect(await bytesWith("refuse")).toBeGreaterThan(alone + 145e6);
});
