import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { estimateContextBytes } from "./context-memory.ts";
import { readGgufMetadata } from "./gguf-metadata.ts";

const options = () => ({ path: inject("chatModelPath"), contextSize: undefined, slots: 4, batchSize: undefined });
/** 30 layers with 3 heads of 64 keys and 64 values. */
const BYTES_PER_TOKEN = 30 * 3 * (64 + 64) * 2;
const VOCABULARY = 49_152;

test("counts the keys and values of the slots at first, and the logits of a batch", async () => {
  expect(await estimateContextBytes(options())).toBe(4 * 2048 * BYTES_PER_TOKEN + 260 * VOCABULARY * 4);
  const small = { ...options(), contextSize: 512, slots: 1, batchSize: 64 };
  expect(await estimateContextBytes(small)).toBe(512 * BYTES_PER_TOKEN + 65 * VOCABULARY * 4);
});

test("reads the hyperparameters of a file", async () => {
  const metadata = await readGgufMetadata(inject("chatModelPath"));
  expect(metadata.get("general.architecture")).toBe("llama");
  expect(metadata.get("llama.context_length")).toBe(8192);
  expect(metadata.get("llama.rope.freq_base")).toBe(100_000);
  expect(metadata.get("tokenizer.ggml.tokens.length")).toBe(VOCABULARY);
});

test("refuses a file of another format, and reads a truncated one as far as it goes", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "model.gguf");
  await writeFile(path, "<html>");
  await expect(readGgufMetadata(path)).rejects.toThrow("is not a GGUF file");
  const header = Buffer.alloc(24);
  header.write("GGUF");
  header.writeBigUInt64LE(5n, 16);
  await writeFile(path, header);
  expect((await readGgufMetadata(path)).size).toBe(0);
});
