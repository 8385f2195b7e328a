/** The built-in engine on this machine's GPU, with models of random weights. */

import { join } from "node:path";
import { TINY, writeRandomModel } from "@parlance-inference/llama-batching/random-model";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { usesGpu } from "../../src/engines/llama-cpp/gpu-use.ts";
import { SOURCE_EXECUTABLE } from "../support/service/executable.ts";
import { spawnParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const HAS_GPU = await usesGpu({ gpu: "auto", gpuLayers: undefined });
if (!HAS_GPU) console.log("skipped: no GPU here that an installed package of node-llama-cpp can use");

interface Readiness {
  models: { id: string; state: string; device?: string; vram_bytes?: number }[];
}

describe.skipIf(!HAS_GPU)("on a GPU", () => {
  let directory: TemporaryDirectory;
  let file: string;
  let service: ServiceProcess | undefined;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    file = join(directory.path, "tiny.gguf");
    await writeRandomModel(file, TINY);
  });
  afterEach(() => service?.stop());
  afterAll(() => directory?.[Symbol.asyncDispose]());

  async function start(ids: readonly string[], settings: object, local: object): Promise<ServiceProcess> {
    const deployment = { engine: "llama-cpp", file, context_size: 512, ...settings };
    const models = ids.map((id) => ({ id, task: "chat", deployments: [deployment] }));
    const config = `builtin_models: false\nlocal: ${JSON.stringify(local)}\nmodels: ${JSON.stringify(models)}\n`;
    service = await startServiceProcess({ config, executable: SOURCE_EXECUTABLE });
    return service;
  }

  async function readiness({ origin, adminKey }: ServiceProcess): Promise<Readiness["models"]> {
    const answer = await fetch(`${origin}/health/ready`, { headers: { authorization: `Bearer ${adminKey}` } });
    return ((await answer.json()) as Readiness).models;
  }

  const ask = (model: string, fields: object = {}) =>
    (service as ServiceProcess).client().chat.completions.create({
      model,
      messages: [{ role: "user", content: "Hello there, dragon." }],
      max_tokens: 24,
      ...fields,
    });

  test("answers, with schemas and log probabilities, and reports the memory of the GPU", async () => {
    const [model] = await readiness(await start(["m"], {}, { load: "start", unload_after_seconds: 0 }));
    expect(model?.state).toBe("up");
    expect(model?.device).not.toBe("cpu");
    expect(model?.vram_bytes).toBeGreaterThan(1e6);
    const { usage } = await ask("m", { logit_bias: { 0: -100 } });
    expect(usage?.completion_tokens).toBe(24);
    const schema = {
      type: "object",
      properties: { a: { type: "integer", minimum: 0, maximum: 9 } },
      required: ["a"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema", json_schema: { name: "x", schema, strict: true } };
    const { choices } = await ask("m", { response_format, max_tokens: 100 });
    expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual({ a: expect.any(Number) });
    const scored = await ask("m", { logprobs: true, top_logprobs: 2, max_tokens: 2, temperature: 0 });
    const first = scored.choices[0]?.logprobs?.content?.[0];
    expect(first?.top_logprobs[0]?.logprob).toBeCloseTo(first?.logprob ?? 1, 4);
  });

  test("decodes 64 chats together", async () => {
    await start(["m"], { slots: 64 }, { load: "start", unload_after_seconds: 0 });
    const answers = await Promise.all(Array.from({ length: 64 }, () => ask("m", { logit_bias: { 0: -100 } })));
    for (const { usage } of answers) expect(usage?.completion_tokens).toBe(24);
  });

  test("unloads the least recently used model when local.gpu_memory is short", async () => {
    await start(["one", "two"], {}, { load: "on_demand", gpu_memory: "200MB" });
    await ask("one");
    const [one] = await readiness(service as ServiceProcess);
    const bytes = one?.vram_bytes ?? 0;
    await service?.stop();
    await start(["one", "two"], {}, { load: "on_demand", gpu_memory: `${Math.ceil((1.5 * bytes) / 1e6)}MB` });
    await ask("one");
    await ask("two");
    await expect
      .poll(async () => (await readiness(service as ServiceProcess)).map(({ state }) => state))
      .toEqual(["unloaded", "up"]);
  });

  test("parlance doctor evaluates a token on it", async () => {
    const { stdout } = await spawnParlance(["doctor"], { cwd: directory.path });
    expect(stdout).toMatch(/ok +GPU +.*llama\.cpp evaluates on it/);
  });
});
