/** Prompts and evals through a backup and through a rotation of the encryption key while a run goes on. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evalEncryption } from "../../src/features/evals/eval-encryption.ts";
import { SealedRows } from "../../src/features/responses/sealed-rows.ts";
import { Keyring } from "../../src/kernel/encryption/keyring.ts";
import { createLogger } from "../../src/kernel/logger.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { useDatabases } from "../support/databases/databases.ts";
import { eventually } from "../support/service/eventually.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type Service, startService } from "../support/service/service.ts";

const databases = useDatabases();
const logger = createLogger("silent");
const [OLD, NEW] = ["o".repeat(40), "n".repeat(40)];
const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: slow, task: chat, deployments: [{ engine: scripted, replies: [{ text: "${"word ".repeat(8)}", delay_ms_per_token: 30 }] }] }
`;
const grader = {
  type: "string_check",
  name: "equal",
  input: "{{sample.output_text}}",
  reference: "{{item.answer}}",
  operation: "eq",
} as const;

/** Stores a prompt with a label, and starts an eval of it; resolves with their IDs. */
async function store({ post, client }: Service, model: string, rows: number) {
  const content = { model, messages: [{ role: "user", content: "{{city}}" }] };
  await post("/v1/prompts", { name: "city", content, labels: ["production"] });
  const evals = client().evals;
  const { id: evalId } = await evals.create({
    name: "Capitals",
    data_source_config: { type: "custom", item_schema: { type: "object" } },
    testing_criteria: [grader],
  });
  const prompt = { id: "city", version: "production", variables: { city: "{{item.city}}" } };
  const items = Array.from({ length: rows }, (_, index) => ({ item: { city: `Badgerton ${index}`, answer: "x" } }));
  const data_source = { type: "completions", source: { type: "file_content", content: items }, prompt } as const;
  const { id: runId } = await evals.runs.create(evalId, { data_source });
  return { evalId, runId };
}

async function readCities(
  service: Service,
  evalId: string,
  runId: string,
  apiKey = service.apiKey,
): Promise<unknown[]> {
  const { runs } = service.client({ apiKey, maxRetries: 0 }).evals;
  const items = await Array.fromAsync(runs.outputItems.list(runId, { eval_id: evalId, limit: 100, order: "asc" }));
  return items.map(({ datasource_item: item }) => item.city);
}

const cities = (count: number) => Array.from({ length: count }, (_, index) => `Badgerton ${index}`);

test("a backup has prompts and evals, encrypted, and a restore brings them back", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-evals-"));
  const backup = join(directory, "copy.sqlite");
  const environment = { PARLANCE_DATA_DIR: directory, PARLANCE_CONFIG: "" };
  const start = () => startService({ config: CONFIG, environment: { PARLANCE_DATA_DIR: directory } });
  try {
    const first = await start();
    const { evalId, runId } = await store(first, "parrot", 2);
    await eventually(async () => expect(await readCities(first, evalId, runId)).toEqual(cities(2)));
    expect(await runParlance(["backup", backup], { cwd: directory, environment })).toMatchObject({ code: 0 });
    expect((await readFile(backup)).includes("Badgerton")).toBe(false);
    await first.client().evals.delete(evalId);
    const headers = { authorization: `Bearer ${first.apiKey}` };
    await first.fetch("/v1/prompts/city", { method: "DELETE", headers });
    await first.stop();
    expect(await runParlance(["restore", backup], { cwd: directory, environment })).toMatchObject({ code: 0 });
    const second = await start();
    try {
      expect(await readCities(second, evalId, runId, first.apiKey)).toEqual(cities(2));
      const restored = await second.fetch("/v1/prompts/city", { headers });
      expect(await restored.json()).toMatchObject({ latest_version: 1, labels: { production: 1 } });
    } finally {
      await second.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a run goes on through a rotation of the key, after which the former key is not needed", async () => {
  const { url } = await databases.create("postgresql");
  const start = (keys: string) =>
    startService({ config: CONFIG, environment: { DATABASE_URL: url?.reveal() ?? "", PARLANCE_ENCRYPTION_KEY: keys } });
  const first = await start(OLD);
  const { evalId, runId } = await store(first, "slow", 24);
  const statusIn = async (service: Service) => {
    const { runs } = service.client({ apiKey: first.apiKey, maxRetries: 0 }).evals;
    return runs.retrieve(runId, { eval_id: evalId });
  };
  await eventually(async () => expect((await statusIn(first)).result_counts.failed).toBeGreaterThan(3));
  await first.stop();
  const rotated = await start(`${NEW},${OLD}`);
  await eventually(async () => expect(await statusIn(rotated)).toMatchObject({ status: "completed" }));
  await rotated.stop();
  const database = openDatabase({ file: "", url, logger });
  const keyring = new Keyring([new Secret(NEW), new Secret(OLD)]);
  const encryption = evalEncryption({ database, keyring, content: new SealedRows(keyring, logger), logger });
  await encryption.removeExpired();
  encryption[Symbol.dispose]();
  await database.close();
  const forgotten = await start(NEW);
  try {
    expect(await readCities(forgotten, evalId, runId, first.apiKey)).toEqual(cities(24));
    expect(await statusIn(forgotten)).toMatchObject({ status: "completed", result_counts: { failed: 24 } });
  } finally {
    await forgotten.stop();
  }
});
