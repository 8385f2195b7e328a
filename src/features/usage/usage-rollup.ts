/** Sums usage by minute, hour and day. */

import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from "../../kernel/durations.ts";
import { AMOUNTS, COSTS, RECORD_COLUMNS, type UsageBatch } from "./usage-batch.ts";
import type { UsageRollupRow } from "./usage-rows.ts";

export const ROLLUP_COLUMNS = [
  "bucketSeconds",
  "beginsAt",
  "dimensionId",
  ...AMOUNTS,
  ...COSTS,
  "requests",
] as const satisfies (keyof UsageRollupRow)[];

export const LABEL_ROLLUP_COLUMNS = ["labelId", ...ROLLUP_COLUMNS] as const;

/** Values in the order of `ROLLUP_COLUMNS`. */
type Rollup = (number | null)[];

/** Amounts and costs, adjacent columns in records and rollups. */
const SUMMED = AMOUNTS.length + COSTS.length;
const FIRST_OF_RECORD = RECORD_COLUMNS.indexOf(AMOUNTS[0]);
const FIRST_OF_ROLLUP = ROLLUP_COLUMNS.indexOf(AMOUNTS[0]);
const REQUESTS = ROLLUP_COLUMNS.indexOf("requests");

/** Sorted by key. */
export function rollUp(batches: readonly UsageBatch[]): Rollup[] {
  const minutes = new Buckets(MINUTE_SECONDS);
  for (const { values, dimensions } of batches) {
    const storage = new Set(dimensions.filter(({ operation }) => operation === "storage").map(({ id }) => id));
    for (let start = 0; start < values.length; start += RECORD_COLUMNS.length) {
      const dimensionId = values[start + 1] ?? 0;
      const requests = storage.size > 0 && storage.has(dimensionId) ? 0 : 1;
      minutes.add(values[start] ?? 0, dimensionId, values, start + FIRST_OF_RECORD, requests);
    }
  }
  const hours = sumInto(HOUR_SECONDS, minutes.rollups());
  return [...minutes.rollups(), ...hours, ...sumInto(DAY_SECONDS, hours)];
}

/** Sums of hours and days for each label, in the order of `LABEL_ROLLUP_COLUMNS`. Sorted by label. */
export function rollUpLabels(batches: readonly UsageBatch[]): Rollup[] {
  const byLabel = new Map<number, Buckets>();
  for (const { values, labelled } of batches) {
    if (labelled === undefined) continue;
    for (let place = 0; place < labelled.length; place += 2) {
      const start = (labelled[place] ?? 0) * RECORD_COLUMNS.length;
      const labelId = labelled[place + 1] ?? 0;
      const hours = byLabel.get(labelId) ?? new Buckets(HOUR_SECONDS);
      byLabel.set(labelId, hours);
      hours.add(values[start] ?? 0, values[start + 1] ?? 0, values, start + FIRST_OF_RECORD, 1);
    }
  }
  return [...byLabel]
    .sort(([a], [b]) => a - b)
    .flatMap(([labelId, buckets]) => {
      const hours = buckets.rollups();
      return [...hours, ...sumInto(DAY_SECONDS, hours)].map((rollup) => [labelId, ...rollup]);
    });
}

function sumInto(seconds: number, rollups: readonly Rollup[]): Rollup[] {
  const buckets = new Buckets(seconds);
  for (const rollup of rollups) {
    const [, beginsAt, dimensionId] = rollup;
    buckets.add(beginsAt ?? 0, dimensionId ?? 0, rollup, FIRST_OF_ROLLUP, rollup[REQUESTS] ?? 0);
  }
  return buckets.rollups();
}

class Buckets {
  readonly #seconds: number;
  readonly #byBeginning = new Map<number, Map<number, Rollup>>();

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  add(at: number, dimensionId: number, summands: readonly (number | null)[], first: number, requests: number): void {
    const rollup = this.#find(at, dimensionId);
    for (let index = 0; index < SUMMED; index += 1) {
      const isCost = index >= AMOUNTS.length;
      // An unknown cost does not change a known one. The database refuses NaN: a damaged record is reported, not counted.
      const summand = summands[first + index] ?? (isCost ? undefined : Number.NaN);
      if (summand === undefined) continue;
      const place = FIRST_OF_ROLLUP + index;
      rollup[place] = (rollup[place] ?? 0) + summand;
    }
    rollup[REQUESTS] = (rollup[REQUESTS] ?? 0) + requests;
  }

  #find(at: number, dimensionId: number): Rollup {
    const milliseconds = this.#seconds * 1000;
    const beginsAt = Math.floor(at / milliseconds) * milliseconds;
    let byDimension = this.#byBeginning.get(beginsAt);
    if (byDimension === undefined) {
      byDimension = new Map();
      this.#byBeginning.set(beginsAt, byDimension);
    }
    let rollup = byDimension.get(dimensionId);
    if (rollup === undefined) {
      rollup = [this.#seconds, beginsAt, dimensionId, ...AMOUNTS.map(() => 0), ...COSTS.map(() => null), 0];
      byDimension.set(dimensionId, rollup);
    }
    return rollup;
  }

  rollups(): Rollup[] {
    return inOrder(this.#byBeginning).flatMap(inOrder);
  }
}

function inOrder<Value>(map: ReadonlyMap<number, Value>): Value[] {
  return [...map].sort(([a], [b]) => a - b).map(([, value]) => value);
}
