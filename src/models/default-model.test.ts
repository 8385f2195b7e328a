import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL, defaultChatModelPath } from "../../test/support/default-model.ts";
import { MANIFEST } from "./manifest.ts";

test("the default chat model is fetched from where it can be had, and is what the manifest says", async () => {
  const content = await readFile(await defaultChatModelPath());
  const [file] = MANIFEST.find(({ id }) => id === DEFAULT_CHAT_MODEL)?.files ?? [];
  expect(content.length).toBe(file?.bytes);
  expect(createHash("sha256").update(content).digest("hex")).toBe(file?.sha256);
  expect(content.subarray(0, 4).toString()).toBe("GGUF");
}, 300_000);
