/** SQL on the database of a service that runs. */

import BetterSqlite from "better-sqlite3";
import pg from "pg";

export interface RawDatabase {
  kind: "sqlite" | "postgresql";
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Query for the integers from 0 to `count` - 1 as `i`, to select from. */
  series(count: number): string;
}

const BUSY_MS = 30_000;

export function rawSqlite(file: string): RawDatabase {
  return {
    kind: "sqlite",
    query: async (text) => {
      const database = new BetterSqlite(file, { timeout: BUSY_MS });
      try {
        const statement = database.prepare(text);
        if (statement.reader) return statement.all() as Record<string, unknown>[];
        statement.run();
        return [];
      } finally {
        database.close();
      }
    },
    series: (count) =>
      `(with recursive counted(i) as (select 0 union all select i + 1 from counted where i < ${count - 1}) select i from counted)`,
  };
}

export function rawPostgres(connectionString: string): RawDatabase {
  return {
    kind: "postgresql",
    query: async (text) => {
      const client = new pg.Client({ connectionString });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
    series: (count) => `(select i from generate_series(0, ${count - 1}) as counted(i))`,
  };
}
