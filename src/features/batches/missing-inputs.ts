import { Fault } from "../../kernel/faults.ts";

/** Time for which a missing input may return to the storage, such as after a restore or with a volume that is mounted. */
const GRACE_MS = 10 * 60_000;

/** Batches of this process whose input is missing in the storage. */
export class MissingInputs {
  /** Time of the first read that found nothing, by batch. */
  readonly #since = new Map<string, number>();

  /** Records another failed read of the input. Returns whether it is the first, and whether reads have failed for too long. */
  note(batchId: string): { isNew: boolean; isLost: boolean } {
    const now = Date.now();
    const since = this.#since.get(batchId);
    if (since === undefined) this.#since.set(batchId, now);
    return { isNew: since === undefined, isLost: since !== undefined && now - since >= GRACE_MS };
  }

  forget(batchId: string): void {
    this.#since.delete(batchId);
  }
}

/** Whether the storage lacks the input. */
export function isMissing(failure: unknown): failure is Fault {
  return failure instanceof Fault && failure.kind === "not-found";
}
