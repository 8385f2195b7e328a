import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { batchRow, takeOverBatch } from "../../../test/support/service/batch-row.ts";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { LocalBlobs } from "../files/local-blobs.ts";
import { BatchParts, MAX_PENDING_ANSWERS } from "./batch-parts.ts";
import { insertBatch } from "./batch-queries.ts";

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };

async function open() {
  const directory = await mkdtemp(join(tmpdir(), "parlance-parts-"));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const database = openDatabase({ url: undefined, file: ":memory:", logger: createLogger("silent") });
  cleanup.defer(() => database.close());
  await database.run((executor) => insertOrganization(executor, { ...named, id: "org_a" }));
  await database.run((executor) => insertProject(executor, { ...named, id: "proj_a", organizationId: "org_a" }));
  const row = batchRow("file-a");
  await database.run((executor) => insertBatch(executor, row));
  const blobs = new LocalBlobs(join(directory, "blobs"));
  const partsOf = async (runId: string) => {
    await database.run((executor) => takeOverBatch(executor, row.id, runId));
    return new BatchParts({ database, blobs, owned: { id: row.id, runId }, directory });
  };
  return { partsOf };
}

test("reads back answers with every line separator of Unicode", async () => {
  const { partsOf } = await open();
  const answers = ["\u2028", "\u2029", "\u0085", "\t", "\\n"].map((text, index) => ({
    index,
    isError: index === 3,
    json: JSON.stringify({ content: `One${text}two` }),
  }));
  const parts = await partsOf("run_a");
  for (const answer of answers.slice(0, 3)) parts.add(answer);
  expect(await parts.flush()).toBe(true);
  for (const answer of answers.slice(3)) parts.add(answer);
  expect(await parts.flush()).toBe(true);
  expect(await Array.fromAsync((await partsOf("run_b")).read())).toEqual(answers);
});

test("is full with as many answers as the documentation says that a kill repeats", async () => {
  const { partsOf } = await open();
  const parts = await partsOf("run_a");
  const add = (index: number) => parts.add({ index, isError: false, json: "{}" });
  for (let index = 1; index < MAX_PENDING_ANSWERS; index += 1) add(index);
  expect(parts.isFull).toBe(false);
  add(MAX_PENDING_ANSWERS);
  expect(parts.isFull).toBe(true);
  const guide = await readFile(new URL("../../../docs/how-to/run-a-batch.md", import.meta.url), "utf8");
  expect(guide).toContain(`at most ${MAX_PENDING_ANSWERS}.`);
});

test("is full with few answers that are long, until they are stored", async () => {
  const { partsOf } = await open();
  const parts = await partsOf("run_a");
  const json = JSON.stringify("x".repeat(9 * 1024 ** 2));
  parts.add({ index: 0, isError: false, json });
  expect(parts.isFull).toBe(false);
  parts.add({ index: 1, isError: false, json });
  expect(parts.isFull).toBe(true);
  await parts.flush();
  expect(parts.isFull).toBe(false);
});

test("stores nothing for a run whose batch another run has taken over", async () => {
  const { partsOf } = await open();
  const first = await partsOf("run_a");
  const second = await partsOf("run_b");
  first.add({ index: 0, isError: false, json: "{}" });
  expect(await first.flush()).toBe(false);
  expect(await Array.fromAsync(second.read())).toEqual([]);
});
