/** Usage of requests before it is summed in the database: each dimension once, then flat values. */

import type { RecordedDetails, RecordedUsage } from "../../kernel/usage.ts";
import { dimensionId } from "./dimension-id.ts";
import type { UsageDimensionRow, UsageLabelRow } from "./usage-rows.ts";

type FurtherColumn = "serviceTier" | "isBatch" | "imageSource" | "imageSize";
type UsageDimension = Omit<UsageDimensionRow, "id" | FurtherColumn> & Partial<Pick<UsageDimensionRow, FurtherColumn>>;
export type UsageLabel = Pick<UsageLabelRow, "kind" | "value">;

/** What one request used. */
export interface UsageRecord extends UsageDimension, RecordedUsage, Partial<RecordedDetails> {
  /** Epoch milliseconds. */
  at: number;
  /** Undefined: none. */
  labels?: readonly UsageLabel[] | undefined;
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
  /** Labels of its records; undefined: none. */
  labels?: readonly UsageLabelRow[] | undefined;
  /** Place of a record and ID of one of its labels, pair after pair; undefined: none. */
  labelled?: readonly number[] | undefined;
}

/** Columns of amounts. */
export const AMOUNTS = [
  "promptTokens",
  "cachedTokens",
  "completionTokens",
  "reasoningTokens",
  "characters",
  "audioMilliseconds",
  "cacheWriteTokens",
  "inputAudioTokens",
  "outputAudioTokens",
  "toolCalls",
  "images",
  "storedByteHours",
] as const satisfies (keyof RecordedUsage | keyof RecordedDetails)[];

/** Columns of costs; null: unknown. */
export const COSTS = ["costNanoDollars", "reportedCostNanoDollars", "comparedCostNanoDollars"] as const satisfies (
  | keyof RecordedUsage
  | keyof RecordedDetails
)[];

export const DIMENSION_COLUMNS = [
  "id",
  "organizationId",
  "projectId",
  "keyId",
  "model",
  "deployment",
  "operation",
  "serviceTier",
  "isBatch",
  "imageSource",
  "imageSize",
] as const satisfies (keyof UsageDimensionRow)[];

export const RECORD_COLUMNS = ["at", "dimensionId", ...AMOUNTS, ...COSTS] as const satisfies (
  | "dimensionId"
  | keyof UsageRecord
)[];

/** Content of a batch. The database driver takes one flat list, which is cheap for the garbage collector, too. */
export class UsageRows {
  readonly dimensions: UsageDimensionRow[] = [];
  readonly values: UsageValue[] = [];
  /** Undefined until a record has one. */
  labels: UsageLabelRow[] | undefined;
  labelled: number[] | undefined;
  readonly #dimensionsByKey = new Map<string, UsageDimensionRow[]>();
  readonly #labelIds = new Map<string, number>();

  static of(records: Iterable<UsageRecord>): UsageRows {
    const rows = new UsageRows();
    for (const record of records) rows.add(record);
    return rows;
  }

  get count(): number {
    return this.values.length / RECORD_COLUMNS.length;
  }

  /** What a batch consists of. */
  get content(): Pick<UsageBatch, "dimensions" | "values" | "labels" | "labelled"> {
    const { dimensions, values, labels, labelled } = this;
    return { dimensions, values, ...(labelled !== undefined && { labels, labelled }) };
  }

  add(record: UsageRecord): void {
    for (const label of record.labels ?? []) this.#addLabel(this.count, record, label);
    this.values.push(
      record.at,
      this.#dimensionOf(record).id,
      record.promptTokens,
      record.cachedTokens,
      record.completionTokens,
      record.reasoningTokens,
      record.characters,
      record.audioMilliseconds,
      record.cacheWriteTokens ?? 0,
      record.inputAudioTokens ?? 0,
      record.outputAudioTokens ?? 0,
      record.toolCalls ?? 0,
      record.images ?? 0,
      record.storedByteHours ?? 0,
      record.costNanoDollars,
      record.reportedCostNanoDollars ?? null,
      record.comparedCostNanoDollars ?? null,
    );
  }

  /** Adds rows of another process; the IDs of dimensions are the same in all. */
  append({ dimensions, values, labels = [], labelled = [] }: UsageRows["content"]): void {
    const before = this.count;
    for (const dimension of dimensions) this.#dimensionOf(dimension);
    for (const value of values) this.values.push(value);
    const byId = new Map(labels.map((label) => [label.id, label]));
    for (let place = 0; place < labelled.length; place += 2) {
      const label = byId.get(labelled[place + 1] as number);
      if (label !== undefined) this.#addLabel(before + (labelled[place] as number), label, label);
    }
  }

  #addLabel(record: number, scope: Pick<UsageLabelRow, "organizationId" | "projectId">, { kind, value }: UsageLabel) {
    const { organizationId, projectId } = scope;
    const key = `${projectId}\n${kind}\n${value}`;
    let id = this.#labelIds.get(key);
    if (id === undefined) {
      id = dimensionId([organizationId, projectId, kind, value]);
      this.#labelIds.set(key, id);
      this.labels ??= [];
      this.labels.push({ id, organizationId, projectId, kind, value });
    }
    this.labelled ??= [];
    this.labelled.push(record, id);
  }

  #dimensionOf(record: UsageDimension): UsageDimensionRow {
    const { organizationId, projectId, keyId, model, deployment, operation, serviceTier = null, isBatch = 0 } = record;
    const { imageSource = null, imageSize = null } = record;
    const dimensionsOfKey = this.#dimensionsByKey.get(keyId);
    if (dimensionsOfKey !== undefined) {
      for (const candidate of dimensionsOfKey) {
        const isSame =
          candidate.deployment === deployment &&
          candidate.model === model &&
          candidate.operation === operation &&
          candidate.projectId === projectId &&
          candidate.organizationId === organizationId &&
          candidate.serviceTier === serviceTier &&
          candidate.isBatch === isBatch &&
          candidate.imageSource === imageSource &&
          candidate.imageSize === imageSize;
        if (isSame) return candidate;
      }
    }
    const columns = [organizationId, projectId, keyId, model, deployment, operation];
    // Without them, the ID is that of earlier versions.
    const tier = serviceTier === null && isBatch === 0 && imageSource === null ? [] : [serviceTier, isBatch];
    const image = imageSource === null ? [] : [imageSource, imageSize];
    const further = { serviceTier, isBatch, imageSource, imageSize };
    const id = dimensionId([...columns, ...tier, ...image]);
    const row = { id, organizationId, projectId, keyId, model, deployment, operation, ...further };
    this.dimensions.push(row);
    if (dimensionsOfKey === undefined) this.#dimensionsByKey.set(keyId, [row]);
    else dimensionsOfKey.push(row);
    return row;
  }
}

/** Yields a batch for each record. */
export function* splitBatch({ writer, number, dimensions, values, labels = [], labelled = [] }: UsageBatch) {
  const width = RECORD_COLUMNS.length;
  for (let start = 0; start < values.length; start += width) {
    const slice = values.slice(start, start + width);
    const [, dimensionId] = slice;
    const record = start / width;
    const ids = labelled.filter((_id, place) => place % 2 === 1 && labelled[place - 1] === record);
    yield {
      ...{ writer, number, values: slice, dimensions: dimensions.filter(({ id }) => id === dimensionId) },
      ...(ids.length > 0 && {
        labels: labels.filter(({ id }) => ids.includes(id)),
        labelled: ids.flatMap((id) => [0, id]),
      }),
    };
  }
}

/** Joins batches of one writer. */
export function joinBatches(batches: readonly UsageBatch[]): UsageRows["content"] {
  const rows = new UsageRows();
  for (const batch of batches) rows.append(batch);
  return rows.content;
}
