/** Starts a program that serves a model over HTTP, waits until it answers, and ends with it. */

import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { until } from "../../kernel/async/retry.ts";
import { unavailable } from "../../kernel/faults.ts";
import { Child } from "../../kernel/process/child.ts";
import type { HostedServices } from "./model-child.ts";

export interface ServerProgramOptions {
  /** Name for messages, such as `llama-server`. */
  name: string;
  binary: string;
  /** Command-line arguments at this port of 127.0.0.1. */
  args: (port: string, host: string) => readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  startTimeoutSeconds: number;
  /** Path that answers 200 once the model is loaded. */
  healthPath: string;
}

export interface ServerProgram {
  /** URL without the path. */
  origin: string;
  pid: number | undefined;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const POLL_MS = 100;
const CLOSE_GRACE_MS = 1500;
const MAX_LINES = 3;

/** Throws a Fault with the program's last log lines when it exits before it is ready, or takes too long. */
export async function startServerProgram(
  { name, binary, args, environment, startTimeoutSeconds, healthPath }: ServerProgramOptions,
  { reportChildPid }: HostedServices,
): Promise<ServerProgram> {
  const port = await freePort();
  const server = new Child({
    program: binary,
    args: args(String(port), HOST),
    stdio: ["ignore", "pipe", "pipe"],
    environment,
  });
  const life = followLife(server);
  if (server.pid !== undefined) reportChildPid(server.pid);
  const origin = `http://${HOST}:${port}`;
  await waitUntilUp(`${origin}${healthPath}`, life, { name, startTimeoutSeconds });
  // The service restarts this process, which starts another server.
  void life.ended.then((how) => {
    process.stderr.write(`${name} ${how}\n`, () => process.exit(1));
  });
  return { origin, pid: server.pid, close: () => endGently(server) };
}

interface ServerLifetime {
  /** Resolves with the reason when the server ends. */
  ended: Promise<string>;
  lastLines: readonly string[];
}

function followLife(server: Child): ServerLifetime {
  const lastLines: string[] = [];
  for (const descriptor of [1, 2]) {
    createInterface({ input: server.output(descriptor) }).on("line", (line) => {
      lastLines.push(line);
      if (lastLines.length > MAX_LINES) lastLines.shift();
      process.stderr.write(`${line}\n`);
    });
  }
  const ended = server.ended.then(({ code, signal, error }) => {
    if (error !== undefined) return `could not be started: ${error.message}`;
    return signal === null ? `ended by itself (exit code ${code})` : `crashed (${signal})`;
  });
  return { ended, lastLines };
}

async function waitUntilUp(
  url: string,
  life: ServerLifetime,
  { name, startTimeoutSeconds: seconds }: Pick<ServerProgramOptions, "name" | "startTimeoutSeconds">,
): Promise<void> {
  let how: string | undefined;
  void life.ended.then((ended) => {
    how = ended;
  });
  const check = async () => {
    if (await isUp(url)) return true;
    if (how === undefined) return false;
    throw unavailable(`${name} ${how}: ${life.lastLines.join(" / ")}`, "engine_failed", 60);
  };
  if (await until(check, { everyMs: POLL_MS, timeoutMs: seconds * 1000 })) return;
  const message = `${name} had not loaded its model after ${seconds} seconds (start_timeout_seconds).`;
  throw unavailable(message, "engine_failed", 60);
}

async function isUp(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000) });
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

async function endGently(server: Child): Promise<void> {
  if (server.hasEnded) return;
  server.process.kill("SIGTERM");
  const impatience = setTimeout(() => server.kill(), CLOSE_GRACE_MS);
  await server.ended;
  clearTimeout(impatience);
}
