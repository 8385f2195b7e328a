/** Starts one llama-server, waits until it answers, and ends with it. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { until } from "../../kernel/async/retry.ts";
import { unavailable } from "../../kernel/faults.ts";
import type { HostedServer, HostedServices } from "../host/model-child.ts";
import { readProperties } from "./server-properties.ts";

export interface LlamaServerStart {
  binary: string;
  /** Command-line arguments in addition to those for the address. */
  options: readonly string[];
  startTimeoutSeconds: number;
}

/**
 * The prompt cache in main memory would grow to 8 GiB by default. A variable rather than an argument because an older
 * llama-server ignores it instead of failing.
 */
const ENVIRONMENT = { LLAMA_ARG_CACHE_RAM: "0" };
const HOST = "127.0.0.1";
const POLL_MS = 100;
const CLOSE_GRACE_MS = 1500;
const KEPT_LINES = 3;

/** Throws a Fault with llama-server's last log lines when it exits before it is ready, or takes too long. */
export async function open(settings: unknown, { reportChildPid }: HostedServices): Promise<HostedServer> {
  const { binary, options, startTimeoutSeconds } = settings as LlamaServerStart;
  const port = await freePort();
  const key = randomBytes(24).toString("base64url");
  // Every user of the machine can read arguments, so the key is an environment variable.
  const server = spawn(binary, [...options, "--host", HOST, "--port", String(port)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...ENVIRONMENT, ...process.env, LLAMA_API_KEY: key },
  });
  const life = followLife(server);
  if (server.pid !== undefined) reportChildPid(server.pid);
  const origin = `http://${HOST}:${port}`;
  await waitUntilUp(origin, life, startTimeoutSeconds);
  const properties = await readProperties(origin, key);
  // The service restarts this process, which starts another server.
  void life.ended.then((how) => {
    process.stderr.write(`llama-server ${how}\n`, () => process.exit(1));
  });
  return { task: "server", origin, key, pid: server.pid, properties, close: () => endGently(server) };
}

interface ServerLifetime {
  /** Resolves with the reason when the server ends. */
  ended: Promise<string>;
  lastLines: readonly string[];
}

function followLife(server: ChildProcess): ServerLifetime {
  const lastLines: string[] = [];
  for (const stream of [server.stdout, server.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      lastLines.push(line);
      if (lastLines.length > KEPT_LINES) lastLines.shift();
      process.stderr.write(`${line}\n`);
    });
  }
  const ended = new Promise<string>((resolve) => {
    server.on("error", (error) => resolve(`could not be started: ${error.message}`));
    server.on("close", (code, signal) => {
      resolve(signal === null ? `ended by itself (exit code ${code})` : `crashed (${signal})`);
    });
  });
  return { ended, lastLines };
}

async function waitUntilUp(origin: string, life: ServerLifetime, seconds: number): Promise<void> {
  let how: string | undefined;
  void life.ended.then((ended) => {
    how = ended;
  });
  const check = async () => {
    if (await isUp(origin)) return true;
    if (how === undefined) return false;
    throw unavailable(`llama-server ${how}: ${life.lastLines.join(" / ")}`, "engine_failed", 60);
  };
  if (await until(check, { everyMs: POLL_MS, timeoutMs: seconds * 1000 })) return;
  const message = `llama-server had not loaded its model after ${seconds} seconds (start_timeout_seconds).`;
  throw unavailable(message, "engine_failed", 60);
}

async function isUp(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/health`, { signal: AbortSignal.timeout(5000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** Only the operating system knows a free port; if another program takes it in between, the next start picks another. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on("error", reject);
    probe.listen(0, HOST, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

async function endGently(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  const impatience = setTimeout(() => server.kill("SIGKILL"), CLOSE_GRACE_MS);
  await ended;
  clearTimeout(impatience);
}
