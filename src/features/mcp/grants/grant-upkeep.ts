/** Work on grants at each start of the service. */

import { DAY_MS } from "../../../kernel/durations.ts";
import type { Database } from "../../../storage/database.ts";
import { deleteUnusable, listGrantsAfter, replaceSealed } from "./grant-queries.ts";
import type { SealedGrants } from "./sealed-grants.ts";

const ROWS = 100;

/** Deletes grants of archived projects, and those that nobody completed. */
export async function deleteStaleGrants(database: Database): Promise<void> {
  await database.run((executor) => deleteUnusable(executor, Date.now() - DAY_MS));
}

/** Encrypts with the current key what was encrypted with a former one. Resolves with the number of grants. */
export async function reencryptGrants(database: Database, sealed: SealedGrants): Promise<number> {
  let count = 0;
  for (let after = ""; ; ) {
    const rows = await database.run((executor) => listGrantsAfter(executor, after, ROWS));
    for (const row of rows) {
      const tokens = sealed.reencrypt(row, "tokens");
      const request = sealed.reencrypt(row, "request");
      if (tokens === undefined && request === undefined) continue;
      count += 1;
      await database.run((executor) => replaceSealed(executor, row, { tokens, request }));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS) return count;
    after = last.id;
  }
}
