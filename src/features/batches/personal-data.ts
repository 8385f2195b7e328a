import type { PersonalData, QueriedRows } from "../../storage/personal-data.ts";
import { partsFolder } from "./batch-parts.ts";
import { removeBatches } from "./batch-queries.ts";

const AT_ONCE = 100;

/** Batches that keys of the person created. A running one ends, because its run finds no row to write to. */
const batchesOfPerson: QueriedRows<"batches"> = {
  columns: ["keyId", "metadata"],
  async *read({ database }, { identifiers: { caller } }) {
    if (caller.length === 0) return;
    yield* await database.run((executor) =>
      executor.selectFrom("batches").selectAll().where("keyId", "in", caller).orderBy("createdAt").execute(),
    );
  },
  async erase({ database, files }, { identifiers: { caller } }) {
    if (caller.length === 0) return 0;
    let erased = 0;
    for (;;) {
      const batches = await database.run((executor) =>
        executor.selectFrom("batches").select("id").where("keyId", "in", caller).limit(AT_ONCE).execute(),
      );
      if (batches.length === 0) return erased;
      const ids = batches.map(({ id }) => id);
      for (const id of ids) await files.blobs.delete(partsFolder(id));
      await database.transaction(async (executor) => {
        await executor.deleteFrom("batchParts").where("batchId", "in", ids).execute();
        await removeBatches(executor, ids);
      });
      erased += ids.length;
    }
  },
};

export const batchData = {
  batches: {
    rows: [batchesOfPerson],
    texts: { columns: { metadata: "json", errors: "definition" }, within: "projectId" },
  },
} as const satisfies PersonalData;
