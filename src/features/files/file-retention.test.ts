import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { batchRow, takeOverBatch } from "../../../test/support/service/batch-row.ts";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { archiveProject, insertProject } from "../accounts/projects/project-queries.ts";
import { partsFolder } from "../batches/batch-parts.ts";
import { insertBatch, updateOwnedBatch } from "../batches/batch-queries.ts";
import { batchRetention } from "../batches/batch-retention.ts";
import { insertFile } from "./file-queries.ts";
import { fileRetention } from "./file-retention.ts";
import { FileStore } from "./file-store.ts";
import { LocalBlobs } from "./local-blobs.ts";

const databases = useDatabases();
const logger = createLogger("silent");
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const DAY_MS = 86_400_000;
const row = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };

async function open(kind: (typeof DATABASE_KINDS)[number]) {
  const directory = await mkdtemp(join(tmpdir(), "parlance-retention-"));
  closing.push(() => rm(directory, { recursive: true, force: true }));
  const database = openDatabase(await databases.create(kind));
  closing.push(() => database.close());
  await database.run((executor) => insertOrganization(executor, { ...row, id: "org_a" }));
  for (const id of ["proj_a", "proj_b"]) {
    await database.run((executor) => insertProject(executor, { ...row, id, organizationId: "org_a" }));
  }
  const blobs = new LocalBlobs(join(directory, "files"));
  await blobs.check();
  const files = new FileStore({ database, blobs, keepDays: 30, maxSizePerProject: 1_000 });
  const retention = fileRetention({ database, files, logger });
  closing.push(async () => retention[Symbol.dispose]());
  const create = async (projectId = "proj_a", expiresAfterSeconds?: number) => {
    const path = join(directory, "upload");
    await writeFile(path, "text");
    return files.create({ projectId, purpose: "batch", filename: "a", path, bytes: 4, expiresAfterSeconds });
  };
  const stored = async () => (await readdir(join(directory, "files", "files"))).sort();
  const putPart = async (batchId: string) => {
    const path = join(directory, "part");
    await writeFile(path, "text");
    await blobs.putFile(`${partsFolder(batchId)}left`, path);
  };
  const parts = (batchId: string) => readdir(join(directory, "files", partsFolder(batchId)));
  return { database, files, retention, create, stored, putPart, parts };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("removes expired files with their bytes", async () => {
    const { retention, files, create, stored } = await open(kind);
    const short = await create("proj_a", 3600);
    const long = await create();
    await retention.removeExpired(Date.now() + 2 * 3_600_000);
    expect(await stored()).toEqual([long.id]);
    await expect(files.find(short)).rejects.toMatchObject({ kind: "not-found" });
    await retention.removeExpired(Date.now() + 31 * DAY_MS);
    expect(await stored()).toEqual([]);
  });

  test("removes the files of archived projects and abandoned uploads", async () => {
    const { database, retention, create, stored } = await open(kind);
    const kept = await create("proj_a");
    await create("proj_b");
    await database.run((executor) => archiveProject(executor, { organizationId: "org_a", id: "proj_b" }, Date.now()));
    const abandoned = { ...kept, id: "file-abandoned", isStored: 0, createdAt: Date.now() - 3 * DAY_MS };
    await database.run((executor) => insertFile(executor, abandoned));
    await retention.removeExpired();
    expect(await stored()).toEqual([kept.id]);
    const left = await database.run((executor) => executor.selectFrom("files").select("id").execute());
    expect(left).toEqual([{ id: kept.id }]);
  });

  test("keeps the input of a batch until it has ended, and then the batch for some days", async () => {
    const { database, files, retention, create, stored, putPart, parts } = await open(kind);
    const file = await create("proj_a", 3600);
    await database.run((executor) => insertBatch(executor, batchRow(file.id)));
    const later = Date.now() + 2 * DAY_MS;
    await retention.removeExpired(later);
    expect(await stored()).toEqual([file.id]);
    await database.run((executor) => takeOverBatch(executor, "batch_a", "run_a"));
    const owned = { id: "batch_a", runId: "run_a" };
    const end = { status: "completed", endedAt: Date.now() } as const;
    expect(await database.run((executor) => updateOwnedBatch(executor, { ...owned, runId: "other" }, end))).toBe(false);
    expect(await database.run((executor) => updateOwnedBatch(executor, owned, end))).toBe(true);
    await retention.removeExpired(later);
    expect(await stored()).toEqual([]);
    const count = () => database.run((executor) => executor.selectFrom("batches").select("id").execute());
    const batches = batchRetention({ database, blobs: files.blobs, logger, days: 1 });
    closing.push(async () => batches[Symbol.dispose]());
    await putPart("batch_a");
    await batches.removeExpired();
    expect(await count()).toHaveLength(1);
    expect(await parts("batch_a")).toHaveLength(1);
    await batches.removeExpired(later);
    expect(await count()).toHaveLength(0);
    await expect(parts("batch_a")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
