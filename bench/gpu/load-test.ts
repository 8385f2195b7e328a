/**
 * Chats of a model with random weights (Llama 3 8B's shape, Q4_0, 5 GB) on a GPU, streamed, with the built-in engine, and
 * with llama-server where LLAMA_SERVER names one that was built for the GPU. Prints tokens/s, times to the first token,
 * gaps between tokens, and the CPU of the model's process.
 *
 *   node bench/gpu/load-test.ts [--chats 8,32,64] [--model FILE] [--engines llama-cpp,llama-server] [--batch-size 2048]
 */

import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LLAMA_3_8B, writeRandomModel } from "@parlance-inference/llama-batching/random-model";
import { nvidiaGpus } from "../../src/kernel/process/gpus.ts";
import { llamaServerBinary } from "../../test/support/models/llama-server.ts";
import { type ServiceProcess, startServiceProcess } from "../../test/support/service/service-process.ts";
import { percentile, runChat } from "./chats.ts";

const { values } = parseArgs({
  options: {
    chats: { type: "string", default: "8,32,64" },
    model: { type: "string" },
    engines: { type: "string", default: "llama-cpp,llama-server" },
    "batch-size": { type: "string" },
    options: { type: "string", default: "" },
    tokens: { type: "string", default: "128" },
  },
});
const SLOTS = 64;
const CONTEXT = 4608;
/** CPU time in /proc is in hundredths of a second. */
const TICKS_PER_SECOND = 100;

const [gpu] = await nvidiaGpus();
if (gpu === undefined) {
  console.log("skipped: nvidia-smi finds no GPU on this machine");
  process.exit();
}
const file = values.model ?? join(tmpdir(), "parlance-random-8b.gguf");
if (!existsSync(file)) await writeRandomModel(file, LLAMA_3_8B);
console.log(`${gpu.name}, driver ${gpu.driver}`);
for (const engine of values.engines.split(",")) {
  if (engine === "llama-server" && llamaServerBinary === undefined) {
    console.log("llama-server skipped: LLAMA_SERVER names none");
    continue;
  }
  await measure(engine);
}

async function measure(engine: string): Promise<void> {
  const batchSize = values["batch-size"] === undefined ? {} : { batch_size: Number(values["batch-size"]) };
  const shared = { file, slots: SLOTS, context_size: CONTEXT };
  const deployment =
    engine === "llama-cpp"
      ? { engine, ...shared, ...batchSize }
      : {
          engine,
          ...shared,
          binary: llamaServerBinary,
          gpu_layers: 99,
          options: ["--flash-attn", "on", ...values.options.split(" ").filter((word) => word !== "")],
        };
  const service = await startServiceProcess({
    config: JSON.stringify({
      builtin_models: false,
      models: [{ id: "m", task: "chat", deployments: [{ ...deployment, max_queue: 1000 }] }],
    }),
  });
  try {
    const [model] = await modelsOf(service);
    console.log(`\n${engine}: ${JSON.stringify(model)}`);
    if (model?.state !== "up") return console.log(service.output().slice(-3000));
    await runChat(service, 8);
    console.log(
      "| chats | tokens/s | first token p50 / p99 ms | gap p99 ms | CPU % of a core |\n|---|---|---|---|---|",
    );
    for (const chats of values.chats.split(",").map(Number)) await measureChats(service, chats);
  } finally {
    await service.stop();
  }
}

async function measureChats(service: ServiceProcess, chats: number): Promise<void> {
  const before = cpuSeconds(service.process.pid ?? 0);
  const startedAt = performance.now();
  const runs = await Promise.all(Array.from({ length: chats }, () => runChat(service, Number(values.tokens))));
  const seconds = (performance.now() - startedAt) / 1000;
  const tokens = runs.reduce((sum, run) => sum + run.tokens, 0);
  const firsts = runs.map(({ firstMs }) => firstMs);
  const gaps = runs.flatMap((run) => run.gapsMs);
  const cpu = ((cpuSeconds(service.process.pid ?? 0) - before) / seconds) * 100;
  const cells = [
    (tokens / seconds).toFixed(0),
    `${percentile(firsts, 0.5)} / ${percentile(firsts, 0.99)}`,
    percentile(gaps, 0.99),
    cpu.toFixed(0),
  ];
  console.log(`| ${chats} | ${cells.join(" | ")} |`);
}

async function modelsOf(service: ServiceProcess): Promise<{ state: string; vram_bytes?: number }[]> {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const answer = await fetch(`${service.origin}/health/ready`, { headers });
  return ((await answer.json()) as { models: { state: string }[] }).models;
}

/** CPU time of the processes below `pid`, which are those of the model. */
function cpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children
    .split(" ")
    .filter(Boolean)
    .map(Number)
    .reduce((sum, child) => {
      const fields = readFileSync(`/proc/${child}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND + cpuSeconds(child);
    }, 0);
}
