/** Usage of requests before it is summed in the database: each dimension once, then flat values. */

import type { RecordedUsage } from "../../kernel/usage.ts";
import type { UsageDimensionRow } from "../../storage/schema.ts";
import { dimensionId } from "./dimension-id.ts";

type UsageDimension = Omit<UsageDimensionRow, "id">;
/** What one request used. */
export interface UsageRecord extends UsageDimension, RecordedUsage {
  /** Epoch milliseconds. */
  at: number;
}

export type UsageValue = number | null;

export interface UsageBatch {
  /** Process that wrote it. Its batches are numbered from 1 and written in order. */
  writer: string;
  number: number;
  /** Dimensions of all its records. */
  dimensions: readonly UsageDimensionRow[];
  /** Values of one record after another, in the order of `RECORD_COLUMNS`. */
  values: readonly UsageValue[];
}

/** Columns of amounts, without the cost, which may be unknown. */
export const AMOUNTS = [
  "promptTokens",
  "cachedTokens",
  "completionTokens",
  "reasoningTokens",
  "characters",
  "audioMilliseconds",
] as const satisfies (keyof RecordedUsage)[];

export const DIMENSION_COLUMNS = [
  "id",
  "organizationId",
  "projectId",
  "keyId",
  "model",
  "deployment",
  "operation",
] as const satisfies (keyof UsageDimensionRow)[];

export const RECORD_COLUMNS = ["at", "dimensionId", ...AMOUNTS, "costNanoDollars"] as const satisfies (
  | "dimensionId"
  | keyof UsageRecord
)[];

/** Content of a batch. The database driver takes one flat list, which is cheap for the garbage collector, too. */
export class UsageRows {
  readonly dimensions: UsageDimensionRow[] = [];
  readonly values: UsageValue[] = [];
  readonly #dimensionsByKey = new Map<string, UsageDimensionRow[]>();

  static of(records: Iterable<UsageRecord>): UsageRows {
    const rows = new UsageRows();
    for (const record of records) rows.add(record);
    return rows;
  }

  get count(): number {
    return this.values.length / RECORD_COLUMNS.length;
  }

  add(record: UsageRecord): void {
    this.values.push(
      record.at,
      this.#dimensionOf(record).id,
      record.promptTokens,
      record.cachedTokens,
      record.completionTokens,
      record.reasoningTokens,
      record.characters,
      record.audioMilliseconds,
      record.costNanoDollars,
    );
  }

  /** Adds rows of another process; the IDs of dimensions are the same in all. */
  append({ dimensions, values }: Pick<UsageRows, "dimensions" | "values">): void {
    for (const dimension of dimensions) this.#dimensionOf(dimension);
    for (const value of values) this.values.push(value);
  }

  #dimensionOf({ organizationId, projectId, keyId, model, deployment, operation }: UsageDimension): UsageDimensionRow {
    const dimensionsOfKey = this.#dimensionsByKey.get(keyId);
    if (dimensionsOfKey !== undefined) {
      for (const candidate of dimensionsOfKey) {
        const isSame =
          candidate.deployment === deployment &&
          candidate.model === model &&
          candidate.operation === operation &&
          candidate.projectId === projectId &&
          candidate.organizationId === organizationId;
        if (isSame) return candidate;
      }
    }
    const dimension = { organizationId, projectId, keyId, model, deployment, operation };
    const row = {
      id: dimensionId([organizationId, projectId, keyId, model, deployment, operation]),
      ...dimension,
    };
    this.dimensions.push(row);
    if (dimensionsOfKey === undefined) this.#dimensionsByKey.set(keyId, [row]);
    else dimensionsOfKey.push(row);
    return row;
  }
}

/** Yields a batch for each record. */
export function* splitBatch({ writer, number, dimensions, values }: UsageBatch): Generator<UsageBatch> {
  const width = RECORD_COLUMNS.length;
  for (let start = 0; start < values.length; start += width) {
    const slice = values.slice(start, start + width);
    const [, dimensionId] = slice;
    yield { writer, number, dimensions: dimensions.filter(({ id }) => id === dimensionId), values: slice };
  }
}
