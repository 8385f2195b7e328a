/** What a first start reports when something is wrong: one line, an exit code, no stack. */

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/models/default-model.ts";
import { HubServer } from "../support/models/hub-server.ts";
import { ROOT, SOURCE_EXECUTABLE } from "../support/service/executable.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

const STACK = /^\s+at |\\n +at /m;

const run = promisify(execFile);

let service: ServiceProcess | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

/** Standard error of a start that fails. */
async function failedStart(
  words: string[],
  environment: NodeJS.ProcessEnv,
  options: { uid?: number } = {},
): Promise<string> {
  const env = { PATH: process.env.PATH, PARLANCE_BUILTIN_MODELS: "false", ...environment };
  const start = run(process.execPath, [SOURCE_EXECUTABLE, "serve", ...words], { env, timeout: 200_000, ...options });
  const failure = await start.then(
    () => ({ code: 0, stderr: "" }),
    (error: { code: number; stderr: string }) => error,
  );
  expect(failure.code, failure.stderr).toBe(1);
  expect(failure.stderr).not.toMatch(STACK);
  return failure.stderr;
}

const errorsOf = ({ log }: ServiceProcess) => log().filter(({ level }) => level === "error");

test("names the missing command in a checkout without dependencies", async () => {
  await using checkout = await temporaryDirectory();
  await mkdir(join(checkout.path, "scripts"));
  await copyFile(SOURCE_EXECUTABLE, join(checkout.path, "scripts/start.mjs"));
  await expect(run(process.execPath, ["scripts/start.mjs", "serve"], { cwd: checkout.path })).rejects.toMatchObject({
    code: 1,
    stderr: "error: Dependencies are not installed. Run `npm ci`.\n",
  });
});

test.runIf(process.platform === "linux")("reports a data directory that cannot be created", async () => {
  expect(await failedStart([], { PARLANCE_DATA_DIR: "/proc/x" })).toMatch(/^error: The data directory .*\/proc\/x/);
});

// Only root can start a process as another user.
test.runIf(process.getuid?.() === 0)("reports a data directory that cannot be written", async () => {
  await using directory = await temporaryDirectory();
  await chmod(directory.path, 0o755);
  const stderr = await failedStart([], { PARLANCE_DATA_DIR: directory.path }, { uid: 65_534 });
  expect(stderr).toMatch(/^error: The data directory cannot be used: .* cannot be (written|created) \(EACCES\)\./m);
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

test("rejects a second service on the same data directory", async () => {
  service = await startServiceProcess();
  const { dataDirectory, origin, process: first } = service;
  const stderr = await failedStart(["--port", "0"], { PARLANCE_DATA_DIR: dataDirectory });
  expect(stderr).toBe(
    `error: The service at ${origin} (process ${first.pid}) already uses the data directory ${dataDirectory}. Stop it, or set PARLANCE_DATA_DIR to another directory; services that share keys and limits need DATABASE_URL.\n`,
  );
});

test("reports an unreachable PostgreSQL once, and serves what does not need it", async () => {
  service = await startServiceProcess({
    until: "listening",
    environment: { DATABASE_URL: "postgres://u:p@127.0.0.1:1/x" },
  });
  const current = service;
  await expect.poll(() => errorsOf(current)).toHaveLength(1);
  expect(errorsOf(service)[0]?.msg).toBe(
    "The database cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Check DATABASE_URL and the server. Requests that need it get a 503 until then.",
  );
  expect((await service.fetch("/health/live")).status).toBe(200);
  expect(service.output()).not.toMatch(STACK);
});

test("reports an unreachable Redis once", async () => {
  service = await startServiceProcess({ environment: { REDIS_URL: "redis://127.0.0.1:1" } });
  expect(errorsOf(service)).toEqual([
    expect.objectContaining({ msg: "shared counters are unavailable", reason: "connect ECONNREFUSED 127.0.0.1:1" }),
  ]);
});

test("reports a missing pip once for all models", async () => {
  await using bin = await temporaryDirectory();
  const python = "#!/bin/sh\necho 'No module named pip' >&2\nexit 1\n";
  await writeFile(join(bin.path, "python3"), python, { mode: 0o755 });
  await writeFile(join(bin.path, "npm"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  await using models = await temporaryDirectory();
  service = await startServiceProcess({
    config: "{}",
    environment: {
      PATH: `${bin.path}:${process.env.PATH}`,
      HF_HUB_OFFLINE: "1",
      PARLANCE_MODELS_DIR: models.path,
    },
    until: "listening",
  });
  const { output, log } = service;
  await expect.poll(output).toMatch(/smollm2-135m-instruct.*: failed/);
  expect(log().filter(({ err }) => JSON.stringify(err ?? "").includes("pip"))).toHaveLength(1);
  const shown = output().split("\n");
  expect(shown.filter((line) => !line.startsWith("{") && line.includes("python3 has no pip"))).toHaveLength(1);
  expect(output()).not.toMatch(STACK);
});

test("ends in order and without errors when it is interrupted while it downloads", async () => {
  await using hub = await HubServer.start();
  hub.isSilent = true;
  await using models = await temporaryDirectory();
  const environment = { HF_ENDPOINT: hub.endpoint, NO_PROXY: "127.0.0.1", PARLANCE_MODELS_DIR: models.path };
  service = await startServiceProcess({ config: "{}", environment, until: "listening" });
  const interrupted = service;
  await expect.poll(interrupted.output).toContain("trying hugging-face for SmolLM2");
  service = undefined;
  expect(await interrupted.stop("SIGINT")).toBe(0);
  expect(errorsOf(interrupted)).toEqual([]);
  expect(interrupted.output()).not.toMatch(/download failed/);
});

test("starts with the example configuration as it is", async () => {
  await using directory = await temporaryDirectory();
  const models = process.env.PARLANCE_MODELS_DIR ?? join(ROOT, ".parlance/models");
  const child = spawn(
    process.execPath,
    [SOURCE_EXECUTABLE, "serve", "--port", "0", "--config", join(ROOT, "parlance.example.yaml")],
    {
      env: {
        PATH: process.env.PATH,
        PARLANCE_DATA_DIR: directory.path,
        PARLANCE_MODELS_DIR: models,
        PARLANCE_DEFAULT_CHAT_MODEL: DEFAULT_CHAT_MODEL,
      },
    },
  );
  const exited = once(child, "exit");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  await expect.poll(() => output).toMatch(/is ready|loaded by its first request/);
  child.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
  expect(output).not.toMatch(/"level":"(error|warn)"/);
});
