/** Writes batches of usage to the database, skipping records that violate a constraint. */

import { Fault } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import { isConstraintViolation } from "../../storage/errors.ts";
import { joinBatches, splitBatch, type UsageBatch } from "./usage-batch.ts";
import { writeUsage } from "./usage-queries.ts";

/** Writes in a transaction, in which it calls `insert` to add records of another kind. */
export type WriteTogether = (insert: (transaction: Executor) => Promise<void>) => Promise<void>;
/** Calls `write` with a function that inserts the other records. */
export type WriteWith = (write: WriteTogether) => Promise<void>;

/**
 * Writes in one transaction, with the records of `writeWith`. Skips records that the database can never store, which would
 * block all later ones, and calls `onRefused` with the reason for each. Throws when the database is unavailable.
 */
export async function writeBatches(
  database: Database,
  batches: readonly UsageBatch[],
  onRefused: (refusal: string) => void,
  writeWith?: WriteWith,
): Promise<void> {
  const withOthers = writeWith ?? ((write: WriteTogether) => write(async () => {}));
  try {
    await withOthers((insert) =>
      database.transaction(async (transaction) => {
        await writeUsage(transaction, batches, Date.now());
        await insert(transaction);
      }),
    );
  } catch (error) {
    // The others may be the reason.
    if (writeWith !== undefined && !isUnavailable(error)) return writeBatches(database, batches, onRefused);
    if (!isConstraintViolation(error)) throw error;
    const [batch] = batches;
    if (batches.length > 1) for (const each of batches) await writeBatches(database, [each], onRefused);
    else if (batch !== undefined) await writeWithoutRefused(database, batch, onRefused);
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Fault && error.kind === "unavailable";
}

/** Tries the records of a refused batch one by one, then writes the accepted ones in one transaction. */
async function writeWithoutRefused(
  database: Database,
  batch: UsageBatch,
  onRefused: (refusal: string) => void,
): Promise<void> {
  const batches: UsageBatch[] = [];
  for (const single of splitBatch(batch)) {
    const refusal = await tryOut(database, { ...single, writer: `${batch.writer} trial`, number: 1 });
    if (refusal === undefined) batches.push(single);
    else onRefused(refusal);
  }
  const { writer, number } = batch;
  const rest = { writer, number, ...joinBatches(batches) };
  await database.transaction((transaction) => writeUsage(transaction, [rest], Date.now()));
}

class TrialRollback extends Error {}

/** Returns why the database refuses the batch; rolls back either way. */
async function tryOut(database: Database, batch: UsageBatch): Promise<string | undefined> {
  try {
    await database.transaction(async (transaction) => {
      await writeUsage(transaction, [batch], Date.now());
      throw new TrialRollback();
    });
  } catch (error) {
    if (error instanceof TrialRollback) return undefined;
    if (isConstraintViolation(error)) return (error as Error).message;
    throw error;
  }
  return undefined;
}
