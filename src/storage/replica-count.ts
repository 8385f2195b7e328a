/** The last known number of replicas, for one that starts while it cannot count them. */

import type { Executor } from "./database.ts";
import type { PersonalData } from "./personal-data.ts";

/** Resolves with 0 if none was recorded. */
export async function readReplicaCount(executor: Executor): Promise<number> {
  const row = await executor.selectFrom("replicaCount").select("replicas").executeTakeFirst();
  return row?.replicas ?? 0;
}

export async function writeReplicaCount(executor: Executor, replicas: number): Promise<void> {
  await executor
    .insertInto("replicaCount")
    .values({ singleton: 1, replicas })
    .onConflict((conflict) => conflict.column("singleton").doUpdateSet({ replicas }))
    .execute();
}

export const replicaCountData = { replicaCount: { reason: "Number of processes." } } as const satisfies PersonalData;
