import { afterAll, expect, test } from "vitest";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import type { Person, PersonalContext } from "../../storage/personal-data.ts";
import { vectorStoreFileData } from "./personal-data.ts";
import type { VectorStoreFileRow } from "./vector-store-rows.ts";

const database = openDatabase({ url: undefined, file: ":memory:", logger: createLogger("silent") });
afterAll(() => database.close());

const ADA: Person = {
  organizationId: "org",
  pseudonym: "erased",
  quotations: [],
  identifiers: { user: [], key: [], caller: ["key_ada"], email: [], endUser: [] },
};

const fileOf = (id: string, keyId: string): VectorStoreFileRow => ({
  ...{ vectorStoreId: "vs_p1", id, projectId: "p", additionId: `vsf_${id}`, batchId: null, keyId, filename: "a.md" },
  ...{ status: "completed", errorCode: null, errorMessage: null, maxTokens: 100, overlapTokens: 0, attributes: null },
  ...{ usageBytes: 1, chunks: 1, createdAt: 1, attempts: 0, runId: null, dueAt: 0 },
});

test("erases the content that a person added or uploaded, and nothing else", async () => {
  await database.run(async (executor) => {
    const at = { createdAt: 1, archivedAt: null };
    await executor
      .insertInto("organizations")
      .values({ id: "org", name: "A", isDefault: 1, ...at })
      .execute();
    const project = { id: "p", organizationId: "org", name: "P", isDefault: 1, ...at };
    await executor.insertInto("projects").values(project).execute();
    const store = { id: "vs_p1", projectId: "p", name: "", description: null, metadata: null, embeddingModel: "m" };
    const times = { createdAt: 1, lastActiveAt: 1, expiresAfterDays: null, expiresAt: null, deletedAt: null };
    await executor
      .insertInto("vectorStores")
      .values({ ...store, ...times, dimensions: 1, version: 3 })
      .execute();
    const uploaded = {
      id: "f2",
      projectId: "p",
      purpose: "assistants",
      filename: "a.md",
      bytes: 1,
      isStored: 1,
    } as const;
    await executor
      .insertInto("files")
      .values({ ...uploaded, createdAt: 1, expiresAt: 2, createdBy: "key_ada" })
      .execute();
    for (const file of [fileOf("f1", "key_ada"), fileOf("f2", "key_ben"), fileOf("f3", "key_ben")]) {
      await executor.insertInto("vectorStoreFiles").values(file).execute();
      const segment = { vectorStoreId: "vs_p1", additionId: file.additionId, position: 0, chunks: 1 };
      const content = { vectors: Buffer.of(1), texts: Buffer.of(2) };
      await executor
        .insertInto("vectorStoreSegments")
        .values({ ...segment, ...content })
        .execute();
    }
  });
  const [rows] = vectorStoreFileData.vectorStoreFiles.rows;
  const context = { database } as PersonalContext;
  const exported = (await Array.fromAsync(rows.read?.(context, ADA) ?? [])) as VectorStoreFileRow[];
  expect(exported.map(({ id }) => id)).toEqual(["f1", "f2"]);
  expect(await rows.erase?.(context, ADA)).toBe(2);
  const left = await database.run(async (executor) => ({
    files: await executor.selectFrom("vectorStoreFiles").select("id").execute(),
    segments: await executor.selectFrom("vectorStoreSegments").select("additionId").execute(),
    stores: await executor.selectFrom("vectorStores").select("version").execute(),
  }));
  // A search afterwards loads the change.
  expect(left).toEqual({ files: [{ id: "f3" }], segments: [{ additionId: "vsf_f3" }], stores: [{ version: 5 }] });
  expect(await rows.erase?.(context, ADA)).toBe(0);
});
