import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HubServer } from "../../test/support/models/hub-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { createModelStore } from "../model-store/create-model-store.ts";
import { createLogger } from "../observability/logger.ts";
import { modelsCommand } from "./models.ts";

const ID = "hf:owner/repo/small.gguf";
const content = randomBytes(1234);

let hub: HubServer;
let folder: TemporaryDirectory;

beforeEach(async () => {
  hub = await HubServer.start();
  hub.add("owner/repo/resolve/main/small.gguf", content);
  folder = await temporaryDirectory();
  vi.stubEnv("NO_PROXY", "127.0.0.1,localhost");
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await hub[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Runs `parlance models …` and returns its output. */
async function models(...words: string[]): Promise<string> {
  const settings = { modelsDirectory: folder.path, hub: { endpoint: hub.endpoint, token: undefined, offline: false } };
  const openStore = async () => createModelStore(settings, createLogger("silent"));
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((text: string) => void lines.push(text));
  try {
    await modelsCommand({ openStore, isServiceRunning: async () => false })
      .exitOverride()
      .parseAsync(words, { from: "user" });
  } finally {
    log.mockRestore();
  }
  return lines.join("\n");
}

describe("parlance models", () => {
  test("list reports an empty store, and with --all the available models", async () => {
    expect(await models("list")).toContain("No models have been pulled");
    const all = await models("list", "--all");
    expect(all).toMatch(/^ID +TASK +SIZE +LICENSE +FROM$/m);
    expect(all).toMatch(/^smollm2-135m-instruct +chat +not pulled +Apache-2\.0 /m);
    for (const family of ["qwen3", "gemma-3", "llama-3.2"]) expect(all).toContain(`\n${family}`);
  });

  test("pull prints the file's path; list shows its size and source; remove deletes it", async () => {
    const path = await models("pull", ID);
    expect(path).toContain(folder.path);
    expect(await models("list")).toMatch(
      /^hf:owner\/repo\/small\.gguf +1\.2 kB +see its page +hugging-face: owner\/repo\/small\.gguf@main$/m,
    );
    expect(JSON.parse(await models("list", "--json"))).toEqual([
      expect.objectContaining({ id: ID, bytes: content.length, path, intact: true }),
    ]);
    expect(await models("remove", ID)).toBe(`Removed ${ID}.`);
    expect(await models("list")).toContain("No models have been pulled");
  });

  test("list --verify finds a changed file of the same size", async () => {
    const path = await models("pull", ID);
    expect(await models("list", "--verify")).toContain(ID);
    await writeFile(path, randomBytes(content.length));
    await expect(models("list", "--verify")).rejects.toMatchObject({
      name: "Fault",
      message: expect.stringMatching(/Verification failed:\n {2}hf:.*small\.gguf: expected SHA-256/),
    });
  });

  test("pull and remove throw a Fault that names an unknown model", async () => {
    await expect(models("pull", "nope")).rejects.toThrow("No model is called nope");
    await expect(models("pull", "hf:owner/repo/nope.gguf")).rejects.toThrow("owner/repo has no file nope.gguf");
    await expect(models("remove", ID)).rejects.toThrow(`${ID} is not in the model store.`);
  });
});
