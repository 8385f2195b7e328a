/** Ray Serve as an upstream: Ray scales the replicas of a model under load that Parlance routes. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

/** Python with `ray[serve]`, which takes 500 MB and is not installed by the tests. */
const PYTHON = process.env.RAY_PYTHON ?? "python3";
const APP = join(import.meta.dirname, "../support/upstreams/ray-serve-chat.py");
const TEXT = Array.from({ length: 40 }, (_each, index) => `word${index}`).join(" ");
const CLIENTS = 24;
const LOAD_SECONDS = 25;

const hasRay = (() => {
  try {
    execFileSync(PYTHON, ["-c", "import ray.serve"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();
const WITHOUT_RAY = hasRay ? "" : " (skipped: RAY_PYTHON names no Python with ray[serve])";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

interface Replicas {
  seconds: number;
  replicas: number;
}

interface RayServe {
  port: number;
  /** Number of running replicas at each change. */
  changes: Replicas[];
}

async function startRayServe(): Promise<RayServe> {
  const port = await freePort();
  const child: ChildProcess = spawn(PYTHON, [APP, String(port)], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, RAY_USAGE_STATS_ENABLED: "0" },
  });
  const exited = once(child, "exit");
  cleanup.defer(async () => {
    child.stdin?.end();
    await exited;
  });
  const changes: Replicas[] = [];
  const listening = Promise.withResolvers<void>();
  void exited.then(([code]) => listening.reject(new Error(`Ray Serve ended with ${code}`)));
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const report = JSON.parse(line) as { listening?: true; replicas?: number };
    if (report.listening) listening.resolve();
    if (report.replicas !== undefined) changes.push({ seconds: performance.now() / 1000, replicas: report.replicas });
  });
  await listening.promise;
  return { port, changes };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

interface Sent {
  answered: number;
  failures: string[];
  /** Replicas that answered. */
  replicas: Set<string>;
}

/** Streams one answer after the other until `isOver`. */
async function send(service: ServiceProcess, sent: Sent, isOver: () => boolean): Promise<void> {
  const client = service.client({ maxRetries: 0 });
  while (!isOver()) {
    try {
      const messages = [{ role: "user" as const, content: "Count." }];
      const chunks = await client.chat.completions.create({ model: "ray-chat", stream: true, messages });
      let text = "";
      for await (const chunk of chunks) {
        text += chunk.choices[0]?.delta.content ?? "";
        sent.replicas.add(chunk.system_fingerprint ?? "");
      }
      if (text === TEXT) sent.answered += 1;
      else sent.failures.push(`incomplete: ${text.slice(-40)}`);
    } catch (error) {
      sent.failures.push(String(error));
    }
  }
}

test.skipIf(!hasRay)(`loses no stream while Ray Serve scales from 1 to 4 replicas and back${WITHOUT_RAY}`, async () => {
  const { port, changes } = await startRayServe();
  const directory = cleanup.use(await temporaryDirectory());
  const file = join(directory.path, "endpoints.json");
  await writeFile(file, JSON.stringify([`127.0.0.1:${port}`]));
  const service = await startServiceProcess({
    config: `
builtin_models: false
models:
  - id: ray-chat
    task: chat
    deployments: [{ engine: openai-compatible, base_url: "http://ray-serve:${port}/v1", endpoints: { file: "${file}" } }]
`,
  });
  cleanup.defer(async () => void (await service.stop()));
  const startedAt = performance.now() / 1000;
  const sent: Sent = { answered: 0, failures: [], replicas: new Set() };
  const elapsed = () => performance.now() / 1000 - startedAt;
  const scaled = () => changes.at(-1)?.replicas === 1 && changes.some(({ replicas }) => replicas === 4);
  // One client goes on while Ray stops replicas.
  const steady = send(service, sent, () => elapsed() > 180 || (elapsed() > LOAD_SECONDS && scaled()));
  const load = Array.from({ length: CLIENTS - 1 }, async (_each, index) => {
    await pause(100 * index);
    await send(service, sent, () => elapsed() > LOAD_SECONDS);
  });
  await Promise.all([steady, ...load]);
  const over = changes.map(({ seconds, replicas }) => `${Math.round(seconds - startedAt)} s: ${replicas}`);
  const { answered, failures, replicas } = sent;
  console.log(`Ray Serve: ${answered} streams, ${failures.length} failed, ${replicas.size} replicas answered`);
  console.log(`running replicas: ${over.join(", ")}`);
  expect(failures).toEqual([]);
  expect(Math.max(...changes.map((each) => each.replicas))).toBe(4);
  expect(changes.at(-1)?.replicas).toBe(1);
  expect(replicas.size).toBeGreaterThanOrEqual(4);
});
