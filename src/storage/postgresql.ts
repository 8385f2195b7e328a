/** PostgreSQL for Kysely, through `pg`'s pool. */

import { PostgresDialect, type PostgresPool } from "kysely";
import pg from "pg";
import type { Logger } from "../observability/logger.ts";
import type { Secret } from "../secret.ts";

const INT8 = 20;
const CONNECT_TIMEOUT_MILLISECONDS = 2_000;
const QUERY_TIMEOUT_MILLISECONDS = 10_000;
const MAX_CONNECTIONS = 10;

export function postgresqlDialect(url: Secret, logger: Logger): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url.reveal(),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MILLISECONDS,
    query_timeout: QUERY_TIMEOUT_MILLISECONDS,
    keepAlive: true,
    application_name: "parlance",
    types: { getTypeParser },
  });
  // Without a listener, an idle connection that the server ends would end this process.
  pool.on("error", (error) => logger.warn({ error: error.message }, "an idle database connection ended"));
  // So would one that ends between two statements of a transaction, which the next statement reports.
  pool.on("connect", (client) => client.on("error", () => {}));
  return new PostgresDialect({ pool: withoutLateOnes(pool) });
}

/** A connection whose query was late is still at work on it, and whoever got it next would wait behind that. */
function withoutLateOnes(pool: pg.Pool): PostgresPool {
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

/** `pg` gives int8 as text, because it may not fit; times in milliseconds and nano-dollars do. */
function getTypeParser(id: number, format?: "text" | "binary"): (value: string) => unknown {
  return id === INT8 ? Number : pg.types.getTypeParser(id, format as "text");
}
