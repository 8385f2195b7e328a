import type { Executor } from "../../storage/database.ts";

/** Bytes of chunks and vectors in the stores of a project, by the key that added them. */
export interface StoredSize {
  organizationId: string;
  projectId: string;
  keyId: string;
  bytes: number;
}

/** Sizes above 0 of what was added before `time`, epoch milliseconds, and is not deleted. */
export async function readStoredSizes(executor: Executor, time: number): Promise<StoredSize[]> {
  const rows = await executor
    .selectFrom("vectorStoreFiles as file")
    .innerJoin("vectorStores as store", "store.id", "file.vectorStoreId")
    .innerJoin("projects as project", "project.id", "file.projectId")
    .select(["project.organizationId", "file.projectId", "file.keyId"])
    .select(({ fn }) => fn.sum<number | string>("file.usageBytes").as("bytes"))
    .where("store.deletedAt", "is", null)
    .where("file.createdAt", "<", time)
    .where("file.usageBytes", ">", 0)
    .groupBy(["project.organizationId", "file.projectId", "file.keyId"])
    .orderBy("file.projectId")
    .orderBy("file.keyId")
    .execute();
  // PostgreSQL returns sums as text.
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }));
}
