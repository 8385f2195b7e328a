/**
 * Compares `engine: llama-server` and `engine: llama-cpp` through the service with llama-server alone: default model, same
 * threads and slots, streamed. Ratios compare alternating runs; absolute figures depend on the machine. Requires a
 * llama-server on PATH or in LLAMA_SERVER (`scripts/build-llama-server.sh`).
 * `node bench/llama-server.ts [threads] [rounds]`
 */

import { spawn } from "node:child_process";
import { availableParallelism, cpus, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { defaultChatModelPath } from "../test/support/models/default-model.ts";
import { llamaServerBinary, WITHOUT_LLAMA_SERVER } from "../test/support/models/llama-server.ts";
import { startServiceProcess } from "../test/support/service/service-process.ts";
import { median } from "./timing.ts";

const SLOTS = 8;
const CONTEXT = 1024;
const TOKENS = 64;
const PORT = 18231;
const threads = Number(process.argv[2] ?? availableParallelism());
const rounds = Number(process.argv[3] ?? 5);

if (llamaServerBinary === undefined) throw new Error(WITHOUT_LLAMA_SERVER);
const path = await defaultChatModelPath();
console.log(`${cpus()[0]?.model}, ${cpus().length} cores, ${threads} threads, load ${loadavg()[0]?.toFixed(1)}`);

interface Subject {
  url: string;
  key: string;
  model: string;
  /** Fields that Parlance adds to every request. */
  extraFields: object;
}

const alone = spawn(
  llamaServerBinary,
  [
    ...["--model", path, "--host", "127.0.0.1", "--port", String(PORT), "--jinja", "--n-gpu-layers", "0"],
    ...["--ctx-size", String(CONTEXT * SLOTS), "--parallel", String(SLOTS), "--threads", String(threads)],
  ],
  { stdio: "ignore", env: { ...process.env, LLAMA_ARG_CACHE_RAM: "0" } },
);
const shared = { file: path, slots: SLOTS, context_size: CONTEXT, threads };
const service = await startServiceProcess({
  // JSON is valid YAML.
  config: JSON.stringify({
    builtin_models: false,
    models: [
      {
        id: "server",
        task: "chat",
        deployments: [{ engine: "llama-server", binary: llamaServerBinary, gpu_layers: 0, ...shared }],
      },
      { id: "binding", task: "chat", deployments: [{ engine: "llama-cpp", gpu: false, ...shared }] },
    ],
  }),
});
while ((await fetch(`http://127.0.0.1:${PORT}/health`).catch(() => undefined))?.status !== 200) await delay(100);

const { origin: url, apiKey: key } = service;
const subjects = {
  alone: {
    url: `http://127.0.0.1:${PORT}`,
    key: "",
    model: "any",
    extraFields: { top_k: 256, top_p: 1, min_p: 0, cache_prompt: false },
  },
  server: { url, key, model: "server", extraFields: {} },
  binding: { url, key, model: "binding", extraFields: {} },
} satisfies Record<string, Subject>;

console.log("| concurrent | llama-server alone, tokens/s | engine llama-server | ratio | engine llama-cpp | ratio |");
console.log("|---|---|---|---|---|---|");
for (const concurrency of [1, 4, 8]) {
  const measured: Record<keyof typeof subjects, number[]> = { alone: [], server: [], binding: [] };
  for (let round = 0; round <= rounds; round++) {
    for (const name of Object.keys(subjects) as (keyof typeof subjects)[]) {
      // The llama-cpp engine temporarily uses fewer threads after another process has used the cores.
      if (name === "binding") await delay(2500);
      const speed = await tokensPerSecond(subjects[name], concurrency);
      if (round > 0) measured[name].push(speed);
    }
  }
  const ratio = (own: number[]) =>
    median(own.map((each, round) => each / (measured.alone[round] ?? Number.NaN))).toFixed(2);
  const { server, binding } = measured;
  const cells = [median(measured.alone).toFixed(0), median(server).toFixed(0), ratio(server)];
  console.log(`| ${concurrency} | ${[...cells, median(binding).toFixed(0), ratio(binding)].join(" | ")} |`);
}
const first = { alone: [] as number[], server: [] as number[] };
for (let round = 0; round < 20; round++) {
  first.alone.push(await timeToFirst(subjects.alone));
  first.server.push(await timeToFirst(subjects.server));
}
console.log(
  `first token: alone ${median(first.alone).toFixed(1)} ms, through Parlance ${median(first.server).toFixed(1)} ms`,
);
alone.kill("SIGKILL");
await service.stop();

async function tokensPerSecond(subject: Subject, concurrency: number): Promise<number> {
  const startedAt = performance.now();
  const counts = await Promise.all(
    Array.from({ length: concurrency }, async (_, index) => {
      let count = 0;
      for await (const line of lines(subject, index)) {
        count = Number(/"completion_tokens":(\d+)/.exec(line)?.[1] ?? count);
      }
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - startedAt) / 1000);
}

async function timeToFirst(subject: Subject): Promise<number> {
  const startedAt = performance.now();
  let spent: number | undefined;
  for await (const line of lines(subject, 0)) {
    if (spent === undefined && /"content":"[^"]/.test(line)) spent = performance.now() - startedAt;
  }
  return spent ?? Number.NaN;
}

async function* lines({ url, key, model, extraFields }: Subject, seed: number): AsyncGenerator<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model,
      messages: [{ role: "user", content: "Write a very long story about a dragon." }],
      max_tokens: TOKENS,
      seed,
      stream: true,
      stream_options: { include_usage: true },
      ...extraFields,
    }),
  });
  if (response.status !== 200 || response.body === null) throw new Error(await response.text());
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    const cut = text.split("\n");
    text = cut.pop() ?? "";
    yield* cut;
  }
}
