/** Stores when each catalog ID first appeared, which clients see as its `created`. */

import type { Executor } from "../storage/database.ts";
import type { PersonalData } from "../storage/personal-data.ts";

/** Statements have a bounded number of parameters. */
const BATCH = 200;

/** Stores new IDs with the time `now` and returns when each ID was first seen, epoch milliseconds. */
export async function recordFirstSeen(
  executor: Executor,
  modelIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const firstSeen = new Map<string, number>();
  for (let start = 0; start < modelIds.length; start += BATCH) {
    const batch = modelIds.slice(start, start + BATCH);
    await executor
      .insertInto("modelSightings")
      .values(batch.map((modelId) => ({ modelId, firstSeenAt: now })))
      .onConflict((conflict) => conflict.column("modelId").doNothing())
      .execute();
    const rows = await executor.selectFrom("modelSightings").selectAll().where("modelId", "in", batch).execute();
    for (const row of rows) firstSeen.set(row.modelId, row.firstSeenAt);
  }
  return firstSeen;
}

interface ModelSightingRow {
  modelId: string;
  firstSeenAt: number;
}

declare module "../storage/schema.ts" {
  interface Schema {
    modelSightings: ModelSightingRow;
  }
}

export const modelSightingData = {
  modelSightings: { reason: "Models." },
} as const satisfies PersonalData;
