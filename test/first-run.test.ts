/** What a first start reports when something is wrong: one line, an exit code, no stack. */

import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const PARLANCE = join(import.meta.dirname, "../src/cli/parlance.ts");

/** Standard error of a start that fails within 20 seconds. */
async function failedStart(words: string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const env = { PATH: process.env.PATH, PARLANCE_BUILTIN_MODELS: "false", ...environment };
  const start = promisify(execFile)(process.execPath, [PARLANCE, "serve", ...words], { env, timeout: 20_000 });
  const failure = await start.then(
    () => ({ code: 0, stderr: "" }),
    (error: { code: number; stderr: string }) => error,
  );
  expect(failure.code).toBe(1);
  expect(failure.stderr).not.toMatch(/^\s+at /m);
  return failure.stderr;
}

test.runIf(process.platform === "linux")("reports a data directory that cannot be created", async () => {
  expect(await failedStart([], { PARLANCE_DATA_DIR: "/proc/x" })).toMatch(/^error: The data directory .*\/proc\/x/);
});

test("recognizes swapped letters in a variable's name", async () => {
  expect(await failedStart([], { PARLANCE_PROT: "9" })).toContain("did you mean PARLANCE_PORT?");
});

test("reports a port in use, also one given with --port", async () => {
  await using directory = await temporaryDirectory();
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const stderr = await failedStart(["--port", String(port)], { PARLANCE_DATA_DIR: directory.path });
  other.close();
  expect(stderr).toBe(
    `error: 127.0.0.1:${port} is already in use. Stop the program that listens there, or set another port with PARLANCE_PORT.\n`,
  );
});
