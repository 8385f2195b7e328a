import { until } from "../kernel/async/retry.ts";
import { MINUTE_MS } from "../kernel/durations.ts";
import { type CounterStore, type Heartbeat, LEASE_MS } from "./counter-store.ts";
import type { ReplicaSet } from "./replica-set.ts";
import { storeAnswer } from "./unconfirmed-counts.ts";

const POLL_MS = 100;
/** Longest wait for replicas that restore what they have used. */
const RESTORE_LIMIT_MS = MINUTE_MS;

/**
 * Waits until each replica that restores has done so, and each earlier one has sent a heartbeat since `openedAt` (on the
 * store's clock, in milliseconds), or would have, if it lived; not once `closing` aborts. Throws when the store fails or
 * has lost its counts.
 */
export async function waitForReplicas(
  store: CounterStore,
  { others, id: own }: Pick<ReplicaSet, "others" | "id">,
  openedAt: number,
  closing: AbortSignal,
): Promise<Heartbeat> {
  let since: number | undefined;
  const allHere = async () => {
    const heartbeat = await storeAnswer(store.heartbeat(own));
    const { now, replicas } = heartbeat;
    if (!replicas.has(own)) throw new Error("the counts were lost");
    since ??= now;
    const restoring = [...replicas.values()].some(({ state }) => state === "restoring");
    const areSeen = others.every((id) => (replicas.get(id)?.seenAt ?? 0) >= openedAt);
    const mayGoOn = now - since > (restoring ? RESTORE_LIMIT_MS : LEASE_MS);
    return ((areSeen && !restoring) || mayGoOn || closing.aborted) && heartbeat;
  };
  return (await until(allHere, { everyMs: POLL_MS })) as Heartbeat;
}
