import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HubServer } from "../../test/support/models/hub-server.ts";
import { cleanEnvironment } from "../../test/support/service/clean-environment.ts";
import { EXECUTABLE } from "../../test/support/service/executable.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { runCommand } from "./run-command.ts";

const ID = "hf:owner/repo/small.gguf";
const content = randomBytes(1234);

let hub: HubServer;
let folder: TemporaryDirectory;

beforeEach(async () => {
  hub = await HubServer.start();
  hub.add("owner/repo/resolve/main/small.gguf", content);
  folder = await temporaryDirectory();
  vi.stubEnv("NO_PROXY", "127.0.0.1,localhost");
  vi.stubEnv("HF_ENDPOINT", hub.endpoint);
  vi.stubEnv("PARLANCE_DATA_DIR", folder.path);
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
});

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await hub[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Runs `parlance models …` and returns its output, also that on standard error where it fails. */
async function run(words: readonly string[]): Promise<{ code: number; output: string }> {
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((text: string) => void lines.push(text));
  const error = vi.spyOn(console, "error").mockImplementation((text: string) => void lines.push(text));
  try {
    return { code: await runCommand(["models", ...words]), output: lines.join("\n") };
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

async function models(...words: string[]): Promise<string> {
  const { code, output } = await run(words);
  expect(code, output).toBe(0);
  return output;
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
    expect(await run(["list", "--verify"])).toMatchObject({
      code: 1,
      output: expect.stringMatching(/Verification failed:\n {2}hf:.*small\.gguf: expected SHA-256/),
    });
  });

  test("pull without a service ends by Ctrl-C, and goes on with the next pull", async () => {
    const held = Promise.withResolvers<void>();
    hub.hold = held.promise;
    const child = spawn(process.execPath, [EXECUTABLE, "models", "pull", ID], {
      env: { ...cleanEnvironment(), PARLANCE_DATA_DIR: folder.path, HF_ENDPOINT: hub.endpoint, NO_PROXY: "*" },
    });
    const errors = text(child.stderr);
    const ended = new Promise((done) => child.once("exit", done));
    await expect.poll(() => hub.requestsTo("bytes").length).toBe(1);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(await errors).toContain("Interrupted.");
    hub.hold = undefined;
    held.resolve();
    expect(await models("pull", ID)).toContain(folder.path);
  });

  test.each([
    ["pull", "nope", "No model is called nope"],
    ["pull", "hf:owner/repo/nope.gguf", "owner/repo has no file nope.gguf"],
    ["remove", ID, `${ID} is not in the model store.`],
  ])("%s %s names an unknown model", async (command, id, message) => {
    const { code, output } = await run([command, id]);
    expect(output).toContain(message);
    expect(code).toBe(1);
  });
});
