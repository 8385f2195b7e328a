import { DAY_MS } from "../../kernel/durations.ts";

/** Time for which a run may go without a further graded row. */
const MAX_REFUSED_MS = DAY_MS;

/** Runs of this process that left their place because their requests were refused. */
export class RefusedRuns {
  /** Since when a run has this number of items. */
  readonly #runs = new Map<string, { items: number; since: number }>();

  /** Records that a run leaves its place with this number of items. Returns whether it has had them for too long. */
  note(runId: string, items: number): boolean {
    const now = Date.now();
    // Others were cancelled or deleted, or went on in another process.
    for (const [id, { since }] of this.#runs) if (now - since > 2 * MAX_REFUSED_MS) this.#runs.delete(id);
    const before = this.#runs.get(runId);
    if (before?.items === items) return now - before.since >= MAX_REFUSED_MS;
    this.#runs.set(runId, { items, since: now });
    return false;
  }

  forget(runId: string): void {
    this.#runs.delete(runId);
  }
}
