/** Entries of the request history before they are written: each dimension once, then flat values. */

import type { RequestEntry } from "../../http/request-entry.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { dimensionId } from "./dimension-id.ts";
import type { RequestDimensionRow, RequestHistoryRow } from "./request-history-rows.ts";

type RequestDimension = Omit<RequestDimensionRow, "id" | "lastDay">;

export const REQUEST_DIMENSION_COLUMNS = [
  "id",
  "organizationId",
  "projectId",
  "keyId",
  "operation",
  "model",
  "answeredBy",
  "deployment",
  "status",
  "outcome",
  "error",
  "lastDay",
] as const satisfies (keyof RequestDimensionRow)[];

export const REQUEST_COLUMNS = [
  "id",
  "at",
  "dimensionId",
  "attempts",
  "queuedMilliseconds",
  "firstTokenMilliseconds",
  "durationMilliseconds",
  "promptTokens",
  "cachedTokens",
  "completionTokens",
  "characters",
  "audioMilliseconds",
  "costNanoDollars",
  "details",
] as const satisfies (keyof RequestHistoryRow)[];

/** Whether a request failed; a stream that broke off has the status 200 and an error. */
export function hasFailed({ status, error }: Pick<RequestEntry, "status" | "error">): boolean {
  return status >= 400 || error !== null;
}

/** One flat list is cheap for the garbage collector and for the database driver, as in `UsageRows`. */
export class RequestRows {
  readonly dimensions: RequestDimensionRow[] = [];
  readonly values: (number | string | null)[] = [];
  /** By key, then by requested model, of which callers can send any number. */
  readonly #dimensionsByKey = new Map<string, Map<string | null, RequestDimensionRow[]>>();

  get count(): number {
    return this.values.length / REQUEST_COLUMNS.length;
  }

  add(entry: RequestEntry): void {
    this.values.push(
      entry.id,
      entry.at,
      this.#dimensionOf(entry).id,
      entry.attempts,
      entry.queuedMilliseconds,
      entry.firstTokenMilliseconds,
      entry.durationMilliseconds,
      entry.promptTokens,
      entry.cachedTokens,
      entry.completionTokens,
      entry.characters,
      entry.audioMilliseconds,
      entry.costNanoDollars,
      entry.details === null ? null : JSON.stringify(entry.details),
    );
  }

  /** Adds rows of another process; the IDs of dimensions are the same in all. */
  append({ dimensions, values }: Pick<RequestRows, "dimensions" | "values">): void {
    for (const dimension of dimensions) this.#keptOf(dimension, () => dimension);
    for (const value of values) this.values.push(value);
  }

  #dimensionOf(entry: RequestEntry): RequestDimensionRow {
    return this.#keptOf(entry, () => toDimension(entry));
  }

  #keptOf(entry: RequestDimension, create: () => RequestDimensionRow): RequestDimensionRow {
    const ofKey = this.#dimensionsByKey.get(entry.keyId) ?? new Map<string | null, RequestDimensionRow[]>();
    const ofModel = ofKey.get(entry.model) ?? [];
    for (const candidate of ofModel) if (isSame(candidate, entry)) return candidate;
    const dimension = create();
    this.dimensions.push(dimension);
    ofModel.push(dimension);
    this.#dimensionsByKey.set(entry.keyId, ofKey.set(entry.model, ofModel));
    return dimension;
  }
}

/** Compares what the maps do not. */
function isSame(known: RequestDimension, entry: RequestDimension): boolean {
  return (
    known.status === entry.status &&
    known.deployment === entry.deployment &&
    known.outcome === entry.outcome &&
    known.error === entry.error &&
    known.operation === entry.operation &&
    known.answeredBy === entry.answeredBy &&
    known.projectId === entry.projectId &&
    known.organizationId === entry.organizationId
  );
}

function toDimension(entry: RequestEntry): RequestDimensionRow {
  const { at, organizationId, projectId, keyId, operation, model, answeredBy, deployment, status, outcome, error } =
    entry;
  const columns = {
    organizationId,
    projectId,
    keyId,
    operation,
    model,
    answeredBy,
    deployment,
    status,
    outcome,
    error,
  };
  return { id: dimensionId(Object.values(columns)), ...columns, lastDay: at - (at % DAY_MS) };
}
