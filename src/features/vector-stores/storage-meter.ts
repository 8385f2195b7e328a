/** Records the size of vector stores each hour, with its cost: once, however many replicas there are. */

import { toFactor } from "../../catalog/prices/compiled-price.ts";
import type { Charge } from "../../contracts/price.ts";
import type { Inference } from "../../inference/inference.ts";
import { HOUR_MS, MINUTE_MS } from "../../kernel/durations.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Logger } from "../../kernel/logger.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import { readLastBatch, type UsageRecord, UsageRows, writeUsage } from "../usage/index.ts";
import { readStoredSizes, type StoredSize } from "./stored-size-queries.ts";

export interface StorageMeterOptions {
  database: Database;
  logger: Logger;
  /** US dollars per gigabyte-day; undefined: no price. */
  pricePerGigabyteDay: () => string | undefined;
  /** Discounts and surcharges of a project. */
  factorsOf: (projectId: string) => readonly string[];
  accounts: Pick<Accounts, "callersToBill">;
  inference: Pick<Inference, "countRecorded">;
}

/** An hour is recorded within this time after its end. */
const POLL_MS = 5 * MINUTE_MS;
const JITTER = 0.2;
/** Hours without a running service that are recorded later, at the size of then. */
const MAX_HOURS = 31 * 24;
/** Its batches are numbered by the hour since 1970, so that the database takes each hour once. */
const WRITER = "vector-store-storage";
const NAME = "vector_stores";
const BYTES_PER_GIGABYTE = 10n ** 9n;
const HOURS_PER_DAY = 24n;
const NANO_DOLLARS = 10n ** 9n;

/** Starts to record complete hours. */
export function startStorageMeter(options: StorageMeterOptions): Poll {
  const { logger } = options;
  return new Poll(() => recordStorage(options, Date.now()), {
    everyMs: POLL_MS,
    firstMs: MINUTE_MS,
    jitter: JITTER,
    onFailure: (err) => logger.warn({ err }, "the size of vector stores is not recorded yet"),
  });
}

/** Records the complete hours that no replica has recorded. `now` is in epoch milliseconds. */
export async function recordStorage(options: StorageMeterOptions, now: number): Promise<void> {
  const last = Math.floor(now / HOUR_MS) - 1;
  const recorded = await options.database.run((executor) => readLastBatch(executor, WRITER));
  const first = recorded === undefined ? last : Math.max(recorded + 1, last - MAX_HOURS + 1);
  for (let hour = first; hour <= last; hour += 1) {
    const sizes = await options.database.run((executor) => readStoredSizes(executor, (hour + 1) * HOUR_MS));
    // Without stores, there is nothing to continue.
    if (sizes.length === 0 && recorded === undefined) return;
    await recordHour(options, hour, sizes);
  }
}

async function recordHour(options: StorageMeterOptions, hour: number, sizes: readonly StoredSize[]): Promise<void> {
  const { database, pricePerGigabyteDay, factorsOf, accounts, inference, logger } = options;
  const at = (hour + 1) * HOUR_MS - 1;
  const price = pricePerGigabyteDay();
  const records = sizes.map((size) => {
    const costNanoDollars = price === undefined ? null : storageCost(price, factorsOf(size.projectId), size.bytes);
    return toRecord(size, at, costNanoDollars);
  });
  const batch = { writer: WRITER, number: hour, ...UsageRows.of(records).content };
  const isFirst = await database.transaction((transaction) => writeUsage(transaction, [batch], Date.now()));
  // Another replica has recorded the hour, and counts its cost.
  if (isFirst === 0) return;
  const costs = records.filter(({ costNanoDollars }) => (costNanoDollars ?? 0) > 0);
  // Content outlasts the key that added it.
  const callers = await accounts.callersToBill([...new Set(costs.map(({ keyId }) => keyId))]);
  for (const caller of callers.values()) {
    await inference
      .countRecorded(caller, at)
      .catch((err: unknown) => logger.warn({ err }, "the cost of storage is not counted yet"));
  }
}

function toRecord({ organizationId, projectId, keyId, bytes }: StoredSize, at: number, cost: number | null) {
  const { audioSeconds: _audio, estimated: _estimated, ...amounts } = NO_USAGE;
  return {
    ...amounts,
    ...{ at, organizationId, projectId, keyId, model: NAME, deployment: NAME, operation: "storage" },
    ...{ audioMilliseconds: 0, storedByteHours: bytes, costNanoDollars: cost },
  } satisfies UsageRecord;
}

/** Returns nano-dollars for an hour, rounded half up. */
export function storageCost(pricePerGigabyteDay: string, factors: Charge["factors"], bytes: number): number {
  let numerator = BigInt(bytes) * NANO_DOLLARS;
  let denominator = BYTES_PER_GIGABYTE * HOURS_PER_DAY;
  for (const each of [pricePerGigabyteDay, ...factors]) {
    const factor = toFactor(each);
    numerator *= factor.numerator;
    denominator *= factor.denominator;
  }
  return Number((2n * numerator + denominator) / (2n * denominator));
}
