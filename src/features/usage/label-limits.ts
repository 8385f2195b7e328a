/** Bounds how many labels are summed: callers can send any number of them. */

import { DAY_MS } from "../../kernel/durations.ts";
import type { UsageLabel } from "./usage-batch.ts";

/** Stands for all labels beyond the bound, so that sums stay complete. */
export const OTHER_LABELS = "(other)";

export class LabelLimits {
  readonly #max: number;
  /** Values of the present UTC day, by project and kind. */
  readonly #values = new Map<string, Set<string>>();
  #day = 0;

  /** `max`: values of each kind that one project adds in a UTC day, in this process. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the label, or the one that stands for all others. `at`: epoch milliseconds. */
  bound(projectId: string, { kind, value }: UsageLabel, at: number): UsageLabel {
    const day = Math.floor(at / DAY_MS);
    if (day !== this.#day) this.#values.clear();
    this.#day = day;
    const key = `${kind} ${projectId}`;
    const values = this.#values.get(key) ?? new Set();
    if (values.has(value)) return { kind, value };
    if (values.size >= this.#max) return { kind, value: OTHER_LABELS };
    this.#values.set(key, values.add(value));
    return { kind, value };
  }
}
