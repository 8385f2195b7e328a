/** PostgreSQL for Kysely, through `pg`'s pool. */

import { PostgresDialect, type PostgresPool } from "kysely";
import type { Pool } from "pg";
import type { Logger } from "../kernel/logger.ts";
import type { Secret } from "../kernel/secret.ts";

const INT8 = 20;
const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 10;

/** Imports `pg` and opens a pool when the first statement runs. */
export function postgresqlDialect(url: Secret, logger: Logger): PostgresDialect {
  return new PostgresDialect({ pool: () => openPool(url, logger) });
}

async function openPool(url: Secret, logger: Logger): Promise<PostgresPool> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString: url.reveal(),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: "parlance",
    types: {
      // `pg` returns int8 as text because it may exceed 2^53; milliseconds and nano-dollars do not.
      getTypeParser: (id: number, format?: "text" | "binary") =>
        id === INT8 ? Number : pg.types.getTypeParser(id, format as "text"),
    },
  });
  // Without a listener, an idle connection that the server closes would crash this process.
  pool.on("error", (error) => logger.warn({ error: error.message }, "idle database connection closed"));
  // So would a connection closed between two statements of a transaction; the next statement reports it.
  pool.on("connect", (client) => client.on("error", () => {}));
  return discardTimedOutConnections(pool);
}

/** Drops a connection whose query timed out: the server is still running it, and the next query would wait behind it. */
function discardTimedOutConnections(pool: Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      let isLate = false;
      const query = async (text: string, values: unknown[]) => {
        try {
          return await client.query(text, values);
        } catch (error) {
          isLate ||= error instanceof Error && error.message === "Query read timeout";
          throw error;
        }
      };
      return { query: query as never, release: (isBroken) => client.release(isBroken || isLate) };
    },
  };
}
