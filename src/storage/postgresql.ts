/** PostgreSQL for Kysely, through `pg`'s pool. */

import { PostgresDialect } from "kysely";
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
  return new PostgresDialect({ pool });
}

/** `pg` gives int8 as text, because it may not fit; times in milliseconds and nano-dollars do. */
function getTypeParser(id: number, format?: "text" | "binary"): (value: string) => unknown {
  return id === INT8 ? Number : pg.types.getTypeParser(id, format as "text");
}
