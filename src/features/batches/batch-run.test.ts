import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { batchRow, takeOverBatch } from "../../../test/support/service/batch-row.ts";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { FileStore } from "../files/file-store.ts";
import { LocalBlobs } from "../files/local-blobs.ts";
import { insertBatch } from "./batch-queries.ts";
import { BatchRun } from "./batch-run.ts";
import { MissingInputs } from "./missing-inputs.ts";

const MINUTE_MS = 60_000;
const named = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };

let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  vi.useRealTimers();
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

test("fails a batch whose input stays missing in the storage", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { path: directory } = cleanup.use(await temporaryDirectory());
  const logger = createLogger("silent");
  const database = openDatabase({ url: undefined, file: ":memory:", logger });
  cleanup.defer(() => database.close());
  await database.run((executor) => insertOrganization(executor, { ...named, id: "org_a" }));
  await database.run((executor) => insertProject(executor, { ...named, id: "proj_a", organizationId: "org_a" }));
  const row = batchRow("file-a");
  await database.run((executor) => insertBatch(executor, row));
  const blobs = new LocalBlobs(join(directory, "blobs"));
  await blobs.check();
  const missingInputs = new MissingInputs();
  const runAgain = async () => {
    const batch = await database.run((executor) => takeOverBatch(executor, row.id, "run_a"));
    if (batch === undefined) throw new Error("The batch has ended");
    const files = new FileStore({ database, blobs, keepDays: 30, maxSizePerProject: 1000 });
    const limits = { maxLines: 10, maxLineBytes: 1000, concurrency: 1 };
    const run = new BatchRun(
      {
        ...limits,
        database,
        files,
        logger,
        directory,
        missingInputs,
        callerOf: async () => undefined,
        runLine: async () => {
          throw new Error("There is no line to run");
        },
        onAnswered: () => {},
        outbox: { add: async () => {} },
      },
      { ...batch, runId: "run_a" },
    );
    return run.run();
  };
  expect(await runAgain()).toBe(false);
  vi.setSystemTime(Date.now() + 9 * MINUTE_MS);
  expect(await runAgain()).toBe(false);
  vi.setSystemTime(Date.now() + 2 * MINUTE_MS);
  expect(await runAgain()).toBe(true);
  const ended = await database.run((executor) =>
    executor.selectFrom("batches").selectAll().where("id", "=", row.id).executeTakeFirstOrThrow(),
  );
  expect(ended).toMatchObject({ status: "failed", errors: expect.stringContaining("missing_input") });
});
