/** Evaluated system prompts on disk: what a restarted service continues from, and whose prompts are never there. */

import { mkdir, readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOUR_MS } from "../../src/kernel/durations.ts";
import { defaultChatModelPath } from "../support/models/default-model.ts";
import { shallowModelPath } from "../support/models/shallow-model.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

let file: string;
let data: TemporaryDirectory;
let service: Service;
beforeAll(async () => {
  file = await shallowModelPath(await defaultChatModelPath());
  data = await temporaryDirectory();
  service = await start();
});
afterAll(async () => {
  await service?.stop();
  await data?.[Symbol.asyncDispose]();
});

const start = () =>
  startService({
    config: `
builtin_models: false
models:
  - id: local
    task: chat
    deployments: [{ engine: llama-cpp, file: ${file}, context_size: 2048, prompt_cache_gb: 1, gpu: false }]
`,
    environment: { PARLANCE_DATA_DIR: data.path },
  });

const system = (name: string) => `You are ${name}. ${"Stones sleep in rivers at noon. ".repeat(180)}`;
const states = () => readdir(join(data.path, "prompt-cache")).catch(() => []);

async function cachedTokens(name: string, fields: object = {}, apiKey = service.apiKey) {
  const { usage } = await service.client({ apiKey }).chat.completions.create({
    model: "local",
    messages: [
      { role: "system", content: system(name) },
      { role: "user", content: "Hello." },
    ],
    max_completion_tokens: 2,
    ...fields,
  });
  return usage?.prompt_tokens_details?.cached_tokens ?? 0;
}

test("a restarted service continues after the system prompt", async () => {
  expect(await cachedTokens("Ada")).toBe(0);
  // What is on its way to the disk when the service is stopped arrives there.
  await service.stop();
  expect(await states()).toHaveLength(1);
  service = await start();
  expect(await cachedTokens("Ada")).toBeGreaterThan(1024);
  expect(service.output()).not.toMatch(/could not be stored/);
});

test("nothing is stored of projects and requests that do not want it", async () => {
  const admin = administrator(service);
  const { id } = await admin.projects.create({ name: "Team" });
  const account = await admin.projects.serviceAccounts.create(id, { name: "App" });
  const key = account.api_key?.value;
  const before = await states();
  await admin.projects.dataRetention.update(id, { retention_type: "modified_abuse_monitoring" });
  await cachedTokens("Bea", {}, key);
  await admin.projects.dataRetention.update(id, { retention_type: "zero_data_retention" });
  await cachedTokens("Cleo", {}, key);
  await cachedTokens("Dora", { prompt_cache_retention: "in_memory" });
  await service.client().responses.create({
    model: "local",
    instructions: system("Fay"),
    input: [
      { role: "user", content: "Hello." },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "Go on." },
    ],
    max_output_tokens: 2,
    prompt_cache_retention: "in_memory" as never,
    context_management: [{ type: "compaction", compact_threshold: 1000 }],
  });
  // What is evaluated later is stored, so the others would be too.
  await cachedTokens("Ella", { prompt_cache_retention: "24h" });
  await eventually(async () => expect((await states()).length).toBeGreaterThan(before.length));
  expect(await states()).toHaveLength(before.length + 1);
});

test("what has expired is removed although no model stores prompts any longer", async () => {
  await using folder = await temporaryDirectory();
  const directory = join(folder.path, "prompt-cache");
  await mkdir(directory);
  for (const [name, hours] of [["old.state", 25] as const, ["new.state", 23] as const]) {
    await writeFile(join(directory, name), "");
    await utimes(join(directory, name), new Date(), new Date(Date.now() - hours * HOUR_MS));
  }
  const without = await startService({
    config: "builtin_models: false\nmodels: []",
    environment: { PARLANCE_DATA_DIR: folder.path },
  });
  await eventually(async () => expect(await readdir(directory)).toEqual(["new.state"]));
  await without.stop();
});
