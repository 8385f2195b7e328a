/** Records of use as they are kept until they are written: who, what and where named once, then numbers. */

import { hash } from "node:crypto";
import type { RecordedUsage } from "../usage.ts";
import type { UsageDimensionRow, UsageRecordRow } from "./schema.ts";

type UsageDimension = Omit<UsageDimensionRow, "id">;
export type UsageRecord = UsageDimension & Omit<UsageRecordRow, "dimensionId">;
export type UsageValue = number | string | null;

export interface UsageBatch {
  /** Which process wrote it; its batches are numbered from 1 and written in order. */
  writer: string;
  number: number;
  /** All that its records name. */
  dimensions: readonly UsageDimensionRow[];
  /** Of one record after another, in the order of `RECORD_COLUMNS`. */
  values: readonly UsageValue[];
}

/** All but the cost, which may be unknown. */
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

/** First what the sums of an hour or a day have too. */
export const RECORD_COLUMNS = [
  "at",
  "dimensionId",
  ...AMOUNTS,
  "costNanoDollars",
  "durationMilliseconds",
  "outcome",
] as const satisfies (keyof UsageRecordRow)[];

/** What a batch is made of. One flat list is what the database's driver takes, and little for the garbage collector. */
export class UsageRows {
  readonly dimensions: UsageDimensionRow[] = [];
  readonly values: UsageValue[] = [];
  readonly #dimensionsOfKey = new Map<string, UsageDimensionRow[]>();

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
      record.durationMilliseconds,
      record.outcome,
    );
  }

  #dimensionOf({ organizationId, projectId, keyId, model, deployment, operation }: UsageDimension): UsageDimensionRow {
    const ofKey = this.#dimensionsOfKey.get(keyId);
    if (ofKey !== undefined) {
      for (const known of ofKey) {
        const isSame =
          known.deployment === deployment &&
          known.model === model &&
          known.operation === operation &&
          known.projectId === projectId &&
          known.organizationId === organizationId;
        if (isSame) return known;
      }
    }
    const dimension = { organizationId, projectId, keyId, model, deployment, operation };
    const row = { id: idOf(dimension), ...dimension };
    this.dimensions.push(row);
    if (ofKey === undefined) this.#dimensionsOfKey.set(keyId, [row]);
    else ofKey.push(row);
    return row;
  }
}

/** A batch for each of its records. */
export function* splitBatch({ writer, number, dimensions, values }: UsageBatch): Generator<UsageBatch> {
  const width = RECORD_COLUMNS.length;
  for (let start = 0; start < values.length; start += width) {
    const own = values.slice(start, start + width);
    const [, dimensionId] = own;
    yield { writer, number, dimensions: dimensions.filter(({ id }) => id === dimensionId), values: own };
  }
}

/** In a fixed order: of the same values every process makes the same id. */
function idOf({ organizationId, projectId, keyId, model, deployment, operation }: UsageDimension): number {
  const json = JSON.stringify([organizationId, projectId, keyId, model, deployment, operation]);
  return Number(hash("sha256", json, "buffer").readBigUInt64BE() >> 11n);
}
