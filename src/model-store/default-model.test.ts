import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL, defaultChatModelPath } from "../../test/support/models/default-model.ts";
import { MANIFEST } from "./manifest/manifest.ts";

test("downloads the default chat model with the manifest's size and hash", async () => {
  const content = await readFile(await defaultChatModelPath());
  const [file] = MANIFEST.find(({ id }) => id === DEFAULT_CHAT_MODEL)?.files ?? [];
  expect(content.length).toBe(file?.bytes);
  expect(createHash("sha256").update(content).digest("hex")).toBe(file?.sha256);
  expect(content.subarray(0, 4).toString()).toBe("GGUF");
});
