/** What was reported already, so that one of several replicas reports it. */

import type { Executor } from "../../storage/database.ts";

/**
 * Notes that a deployment is down. Returns true if no replica had noted it since `staleBefore`: a replica that ended
 * while the deployment was down could not note its return.
 */
export async function markDeploymentDown(
  executor: Executor,
  deployment: string,
  { now, staleBefore }: { now: number; staleBefore: number },
): Promise<boolean> {
  const inserted = await executor
    .insertInto("deploymentOutages")
    .values({ deployment, since: now, seenAt: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning("deployment")
    .execute();
  if (inserted.length > 0) return true;
  const outage = executor.updateTable("deploymentOutages").where("deployment", "=", deployment);
  const renewed = await outage
    .set({ since: now, seenAt: now })
    .where("seenAt", "<", staleBefore)
    .returning("deployment")
    .execute();
  if (renewed.length > 0) return true;
  await outage.set({ seenAt: now }).execute();
  return false;
}

/** Keeps the outage from becoming stale. */
export async function renewDeploymentOutage(executor: Executor, deployment: string, now: number): Promise<void> {
  await executor.updateTable("deploymentOutages").set({ seenAt: now }).where("deployment", "=", deployment).execute();
}

/** Returns since when the deployment was down; undefined if that is not noted. */
export async function clearDeploymentOutage(executor: Executor, deployment: string): Promise<number | undefined> {
  const [outage] = await executor
    .deleteFrom("deploymentOutages")
    .where("deployment", "=", deployment)
    .returning("since")
    .execute();
  return outage?.since;
}
