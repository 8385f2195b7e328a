/** A real `parlance serve` process on a free port. Tests that need no process of its own use `startService`. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { EXECUTABLE, ROOT } from "./executable.ts";
import { prepareService, type ServiceOptions } from "./prepare-service.ts";
import { ADMIN_KEY, API_KEY, clientOf, parseLog, type Service } from "./service-client.ts";
import { STALL_LIMIT_MS, stallsFolder } from "./stalls.ts";

export type { ServiceClient } from "./service-client.ts";

export interface ProcessOptions extends ServiceOptions {
  executable?: string;
  /** What to wait for before it counts as started; `listening` does not wait for models. */
  until?: "ready" | "listening";
  /** Output that goes to a device that is always full. */
  full?: "stdout" | "stderr";
}

export interface ServiceProcess extends Service {
  process: ChildProcess;
  /** Sends SIGTERM and resolves with its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const IMPORTS = ["./check-answers.ts", "./report-stalls.ts"].flatMap((module) => [
  "--import",
  new URL(module, import.meta.url).href,
]);
/** A start leaves so much garbage that a small young generation takes a tenth of its CPU time. */
const FLAGS = ["--min-semi-space-size=16", ...IMPORTS];

/** Stop it with `afterAll(() => service.stop())`. */
export async function startServiceProcess(options: ProcessOptions = {}): Promise<ServiceProcess> {
  // Another version has another schema.
  const { dataDirectory, configFile, environment } = await prepareService(options, options.executable === undefined);
  const full = options.full === undefined ? undefined : openSync("/dev/full", "w");
  const outputs = (["stdout", "stderr"] as const).map((each) => (each === options.full ? full : "pipe"));
  const child = spawn(process.execPath, [...FLAGS, options.executable ?? EXECUTABLE, "serve"], {
    cwd: ROOT,
    stdio: ["ignore", ...outputs],
    env: {
      ...(STALL_LIMIT_MS && { TEST_STALLS_FOLDER: stallsFolder(), STALL_LIMIT_MS: `${STALL_LIMIT_MS}` }),
      ...environment,
    },
  });
  if (full !== undefined) closeSync(full);
  const lines: string[] = [];
  const exited = new Promise<number | null>((done) => {
    child.once("exit", (code) => done(code));
  });
  const origin = await new Promise<string>((listening, failed) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        const [, address] = /(?:"origin":"|Base URL +)(http:\/\/[^"/]+)/.exec(line) ?? [];
        if (address !== undefined) listening(address);
      });
    }
    void exited.then((code) => {
      failed(new Error(`parlance ended with ${code}:\n${lines.join("\n")}`));
    });
  }).catch(async (failure: unknown) => {
    await rm(dataDirectory, { recursive: true, force: true });
    throw failure;
  });
  const service: ServiceProcess = {
    ...clientOf({ origin, apiKey: API_KEY, adminKey: ADMIN_KEY }),
    dataDirectory,
    configFile,
    process: child,
    output: () => lines.join("\n"),
    log: () => parseLog(lines),
    stop: async (signal = "SIGTERM") => {
      child.kill(signal);
      const code = await exited;
      await rm(dataDirectory, { recursive: true, force: true });
      return code;
    },
  };
  if (options.until !== "listening") {
    await untilReady(service).catch(async (failure: unknown) => {
      await service.stop("SIGKILL");
      throw failure;
    });
  }
  return service;
}

/** Also waits for configured models, which do not delay the service's readiness. */
async function untilReady(service: ServiceProcess): Promise<void> {
  const deadline = Date.now() + 200_000;
  for (;;) {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const answer = await fetch(`${service.origin}/health/ready`, { headers });
    const body = (await answer.json()) as { models?: { state: string }[] };
    if (answer.ok && body.models?.every(({ state }) => state !== "loading")) return;
    if (Date.now() > deadline) throw new Error(`not ready: ${JSON.stringify(body)}\n${service.output()}`);
    await new Promise((resume) => setTimeout(resume, 100));
  }
}
