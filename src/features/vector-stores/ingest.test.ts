import { afterAll, expect, test } from "vitest";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import { startIngest } from "./ingest.ts";

const logger = createLogger("silent");
const database = openDatabase({ url: undefined, file: ":memory:", logger });
afterAll(() => database.close());

test("gives each project a turn, whatever others have added before", async () => {
  const files = ["a", "a", "a", "c", "c", "c", "b"].map((projectId, index) => ({
    ...{ vectorStoreId: projectId, id: `file-${index}`, projectId, additionId: `vsf_${index}`, batchId: null },
    ...{ keyId: projectId, filename: "a.txt", status: "in_progress" as const, errorCode: null, errorMessage: null },
    ...{ maxTokens: 800, overlapTokens: 400, attributes: null, usageBytes: 0, chunks: 0, createdAt: index },
    ...{ attempts: 0, runId: null, dueAt: 0 },
  }));
  await database.run(async (executor) => {
    const organization = { id: "org", name: "A", isDefault: 1, createdAt: 1, archivedAt: null };
    await executor.insertInto("organizations").values(organization).execute();
    for (const id of ["a", "b", "c"]) {
      const project = { id, organizationId: "org", name: id, isDefault: 0, createdAt: 1, archivedAt: null };
      await executor.insertInto("projects").values(project).execute();
      const store = {
        ...{ id, projectId: id, name: "", description: null, metadata: null, embeddingModel: "m", dimensions: 1 },
        ...{ version: 1, createdAt: 1, lastActiveAt: 1, expiresAfterDays: null, expiresAt: null, deletedAt: null },
      };
      await executor.insertInto("vectorStores").values(store).execute();
    }
    for (const file of files) await executor.insertInto("vectorStoreFiles").values(file).execute();
  });
  const turns: string[] = [];
  const unused = {} as never;
  const ingest = startIngest({
    ...{ database, logger, concurrency: 1, maxVectorsPerProject: 1, maxSizePerProject: 1 },
    ...{ files: unused, documents: unused, segments: unused, inference: unused },
    // Without a caller, a file ends here.
    callerOf: async (keyId) => void turns.push(keyId),
  });
  while (turns.length < files.length) await ingest.runDue();
  await ingest.close();
  expect(turns).toEqual(["a", "c", "b", "a", "c", "a", "c"]);
});
