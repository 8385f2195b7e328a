import { afterAll, expect, test } from "vitest";
import { DAY_MS } from "../../kernel/durations.ts";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import { insertSegment, updateOwnedFile } from "./store-file-queries.ts";
import { removeDeleted } from "./vector-store-queries.ts";
import { vectorStoreRetention } from "./vector-store-retention.ts";

const logger = createLogger("silent");
const database = openDatabase({ url: undefined, file: ":memory:", logger });
afterAll(() => database.close());

const NOW = 1_000 * DAY_MS;

test("takes no further segments for a deleted store, before its content is removed and while it is", async () => {
  const store = {
    ...{ id: "late", projectId: "late", name: "", description: null, metadata: null, embeddingModel: "m" },
    ...{ dimensions: 1, version: 1, createdAt: 1, lastActiveAt: 1, expiresAfterDays: null, expiresAt: null },
  };
  const file = {
    ...{ vectorStoreId: "late", id: "file-a", projectId: "late", additionId: "vsf_late", batchId: null },
    ...{ keyId: "key", filename: "a.txt", status: "in_progress" as const, errorCode: null, errorMessage: null },
    ...{ maxTokens: 800, overlapTokens: 400, attributes: null, usageBytes: 0, chunks: 0, createdAt: 1 },
    ...{ attempts: 0, runId: "run", dueAt: 0 },
  };
  await database.run(async (executor) => {
    const named = { name: "Late", isDefault: 0, createdAt: 1, archivedAt: null };
    await executor
      .insertInto("organizations")
      .values({ ...named, id: "late" })
      .execute();
    await executor
      .insertInto("projects")
      .values({ ...named, id: "late", organizationId: "late" })
      .execute();
    await executor
      .insertInto("vectorStores")
      .values({ ...store, deletedAt: null })
      .execute();
    await executor.insertInto("vectorStoreFiles").values(file).execute();
    expect(await updateOwnedFile(executor, file, { chunks: 1 })).toBe(true);
    const content = { chunks: 1, vectors: Buffer.of(1), texts: Buffer.of(2) };
    for (let position = 0; position < 3; position += 1) {
      await insertSegment(executor, { vectorStoreId: "late", additionId: "vsf_late", position, ...content });
    }
    await executor.updateTable("vectorStores").set({ deletedAt: 5 }).where("id", "=", "late").execute();
    expect(await updateOwnedFile(executor, file, { chunks: 2 })).toBe(false);
    expect(await removeDeleted(executor, 2)).toBe(2);
    expect(await executor.selectFrom("vectorStoreFiles").select("id").execute()).toEqual([]);
    expect(await removeDeleted(executor, 2)).toBe(1);
    expect(await removeDeleted(executor, 2)).toBe(1);
    expect(await removeDeleted(executor, 2)).toBe(0);
  });
});

test("removes deleted stores, those that expired long ago and those of archived projects, with their content", async () => {
  const storeOf = (id: string, projectId: string, change: object = {}) => ({
    ...{ id, projectId, name: "", description: null, metadata: null, embeddingModel: "m", dimensions: 1, version: 1 },
    ...{ createdAt: 1, lastActiveAt: 1, expiresAfterDays: null, expiresAt: null, deletedAt: null, ...change },
  });
  await database.run(async (executor) => {
    const organization = { id: "org", name: "A", isDefault: 1, createdAt: 1, archivedAt: null };
    await executor.insertInto("organizations").values(organization).execute();
    for (const [id, archivedAt] of [["open", null] as const, ["archived", 1] as const]) {
      const project = { id, organizationId: "org", name: id, isDefault: 0, createdAt: 1, archivedAt };
      await executor.insertInto("projects").values(project).execute();
    }
    const stores = [
      storeOf("kept", "open"),
      storeOf("deleted", "open", { deletedAt: 5 }),
      storeOf("expired", "open", { expiresAt: NOW - DAY_MS }),
      storeOf("gone", "open", { expiresAt: NOW - 31 * DAY_MS }),
      storeOf("archived", "archived"),
    ];
    for (const store of stores) {
      await executor.insertInto("vectorStores").values(store).execute();
      const batch = {
        id: `b-${store.id}`,
        vectorStoreId: store.id,
        projectId: "open",
        createdAt: 1,
        cancelledAt: null,
      };
      await executor.insertInto("vectorStoreBatches").values(batch).execute();
      for (let position = 0; position < 450; position += 1) {
        const content = { chunks: 1, vectors: Buffer.of(1), texts: Buffer.of(2) };
        const segment = { vectorStoreId: store.id, additionId: `vsf_${store.id}`, position, ...content };
        await executor.insertInto("vectorStoreSegments").values(segment).execute();
      }
    }
  });
  using retention = vectorStoreRetention({ database, logger });
  await retention.removeExpired(NOW);
  const rows = await database.run(async (executor) => ({
    stores: await executor.selectFrom("vectorStores").select("id").orderBy("id").execute(),
    batches: await executor.selectFrom("vectorStoreBatches").select("id").orderBy("id").execute(),
    segments: await executor.selectFrom("vectorStoreSegments").select("vectorStoreId").distinct().execute(),
  }));
  expect(rows.stores).toEqual([{ id: "expired" }, { id: "kept" }]);
  expect(rows.batches).toEqual([{ id: "b-expired" }, { id: "b-kept" }]);
  expect(rows.segments.map(({ vectorStoreId }) => vectorStoreId).sort()).toEqual(["expired", "kept"]);
});
