/** A real `parlance serve` process on a free port, with new keys and a temporary data directory. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import OpenAI from "openai";
import { copyMigratedFile } from "../databases/migrated-file.ts";
import { DEFAULT_CHAT_MODEL } from "../models/default-model.ts";
import { cleanEnvironment } from "./clean-environment.ts";
import { EXECUTABLE, ROOT } from "./executable.ts";
import { STALL_LIMIT_MS, stallsFolder } from "./stalls.ts";

export interface ServiceOptions {
  /** The text of parlance.yaml. */
  config?: string;
  environment?: Record<string, string>;
  executable?: string;
  /** What to wait for before it counts as started; `listening` does not wait for models. */
  until?: "ready" | "listening";
  /** Output that goes to a device that is always full. */
  full?: "stdout" | "stderr";
}

/** Where a service listens, and its keys. */
export interface Access {
  origin: string;
  apiKey: string;
  adminKey: string;
}

export interface ServiceClient extends Access {
  baseUrl: string;
  client(options?: { apiKey?: string; maxRetries?: number }): OpenAI;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** POSTs JSON with the API key. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
}

export interface Service extends ServiceClient {
  dataDirectory: string;
  configFile: string;
  process: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** The parsed lines of the log so far. */
  log(): Record<string, unknown>[];
  /** Sends SIGTERM and resolves with its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const IMPORTS = ["./check-answers.ts", "./report-stalls.ts"].flatMap((module) => [
  "--import",
  new URL(module, import.meta.url).href,
]);

/** Starts a service; stop it with `afterAll(() => service.stop())`. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "parlance-test-"));
  const configFile = join(dataDirectory, "parlance.yaml");
  const config = options.config ?? "builtin_models: false\n";
  // Most tests wait for their models first; tests of loading on demand configure it explicitly.
  await writeFile(configFile, /^local:/m.test(config) ? config : loadedAtStart(config));
  // Another version has another schema.
  if (options.executable === undefined) copyMigratedFile(join(dataDirectory, "parlance.sqlite"));
  const apiKey = `sk-test-${"a".repeat(32)}`;
  const adminKey = `sk-admin-test-${"b".repeat(32)}`;
  const full = options.full === undefined ? undefined : openSync("/dev/full", "w");
  const outputs = (["stdout", "stderr"] as const).map((each) => (each === options.full ? full : "pipe"));
  const child = spawn(process.execPath, [...IMPORTS, options.executable ?? EXECUTABLE, "serve"], {
    cwd: ROOT,
    stdio: ["ignore", ...outputs],
    env: {
      ...cleanEnvironment(),
      PARLANCE_HOST: "127.0.0.1",
      PARLANCE_PORT: "0",
      PARLANCE_DATA_DIR: dataDirectory,
      PARLANCE_MODELS_DIR: process.env.PARLANCE_MODELS_DIR ?? join(ROOT, ".parlance", "models"),
      PARLANCE_CONFIG: configFile,
      // Otherwise the tests' services download a larger model in the background.
      PARLANCE_DEFAULT_CHAT_MODEL: DEFAULT_CHAT_MODEL,
      PARLANCE_API_KEY: apiKey,
      PARLANCE_ADMIN_KEY: adminKey,
      ...(STALL_LIMIT_MS && { TEST_STALLS_FOLDER: stallsFolder(), STALL_LIMIT_MS: `${STALL_LIMIT_MS}` }),
      ...options.environment,
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
  const service: Service = {
    ...clientOf({ origin, apiKey, adminKey }),
    dataDirectory,
    configFile,
    process: child,
    output: () => lines.join("\n"),
    log: () => lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line)),
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

export function clientOf({ origin, apiKey, adminKey }: Access): ServiceClient {
  const client: ServiceClient = {
    origin,
    baseUrl: `${origin}/v1`,
    apiKey,
    adminKey,
    client: (options) => new OpenAI({ baseURL: `${origin}/v1`, apiKey, ...options }),
    fetch: (path, init) =>
      fetch(`${origin}${path}`, { ...init, headers: { authorization: `Bearer ${apiKey}`, ...init?.headers } }),
    post: (path, body, init) =>
      client.fetch(path, {
        method: "POST",
        body: JSON.stringify(body),
        ...init,
        headers: { "content-type": "application/json", ...init?.headers },
      }),
  };
  return client;
}

function loadedAtStart(config: string): string {
  const local = "local: { load: start, unload_after_seconds: 0, default_speech_model: hibari }";
  return config.startsWith("{") ? `{ ${local}, ${config.slice(1)}` : `${local}\n${config}`;
}

/** Also waits for configured models, which do not delay the service's readiness. */
async function untilReady(service: Service): Promise<void> {
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
