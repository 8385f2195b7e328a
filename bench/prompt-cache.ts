/**
 * Time to the first token of a coding agent's first turn, with a system prompt of many rules and twenty tools, on a local
 * model: evaluated, then after a restart of the service from the disk (`prompt_cache_gb`), then from memory. Run with
 * `node bench/prompt-cache.ts [MODEL] [RULES]`, by default the smallest chat model with 300 rules.
 */

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ServiceProcess, startServiceProcess } from "../test/support/service/service-process.ts";
import { temporaryDirectory } from "../test/support/service/temporary-directory.ts";

const [, , model = "smollm2-135m-instruct", rules = "300"] = process.argv;
const RULES = Array.from(
  { length: Number(rules) },
  (_, index) => `Rule ${index + 1}: when you edit file ${index + 1}, read it first and keep its style.`,
).join("\n");
const tools = Array.from({ length: 20 }, (_, index) => ({
  type: "function" as const,
  function: {
    name: `tool_${index + 1}`,
    description: `Tool ${index + 1} of the coding agent, which reads and changes files of the project.`,
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
}));

await using data = await temporaryDirectory();

const start = (promptCacheGigabytes: number) =>
  startServiceProcess({
    config: `
builtin_models: false
models:
  - id: agent
    task: chat
    deployments: [{ engine: llama-cpp, model: ${model}, gpu: false, prompt_cache_gb: ${promptCacheGigabytes} }]
`,
    environment: { PARLANCE_DATA_DIR: data.path },
  });

async function measure(name: string, service: ServiceProcess, step: string) {
  const beganAt = performance.now();
  const stream = await service.client({ maxRetries: 0 }).chat.completions.create({
    model: "agent",
    messages: [
      { role: "system", content: RULES },
      { role: "user", content: step },
    ],
    tools,
    max_completion_tokens: 4,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  });
  let firstMs: number | undefined;
  for await (const { choices, usage } of stream) {
    if (choices[0]?.delta.content) firstMs ??= performance.now() - beganAt;
    if (!usage) continue;
    const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
    const seconds = ((firstMs ?? performance.now() - beganAt) / 1000).toFixed(2);
    console.log(`${name}: ${seconds} s, ${cached} of ${usage.prompt_tokens} tokens cached`);
  }
}

for (const gigabytes of [0, 10]) {
  console.log(`${model}, prompt_cache_gb: ${gigabytes}`);
  let service = await start(gigabytes);
  await measure("  evaluated", service, "Add a test.");
  await measure("  from memory", service, "Rename a file.");
  await service.stop();
  service = await start(gigabytes);
  await measure("  after a restart", service, "Mend the build.");
  await service.stop();
}
const directory = join(data.path, "prompt-cache");
for (const name of await readdir(directory)) {
  console.log(`on disk: ${((await stat(join(directory, name))).size / 1e6).toFixed(0)} MB`);
}
