/** PostgreSQL as it is run in production: behind PgBouncer in transaction mode, also while a standby takes over. */

import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { HAS_PGBOUNCER, startPgBouncer, WITHOUT_PGBOUNCER } from "../support/databases/pgbouncer.ts";
import { startPostgres } from "../support/databases/postgres.ts";
import { LOAD_MODEL, outcomeOf, sendLoad, startReplicas, untilCountersShared } from "../support/service/limit-load.ts";

const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

async function query(host: string, database: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host, user: "parlance", database });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test.skipIf(!HAS_PGBOUNCER)(
  `replicas behind PgBouncer keep limits and usage through a failover${WITHOUT_PGBOUNCER}`,
  async () => {
    const primary = cleanup.use(await startPostgres());
    const standby = cleanup.use(await primary.startStandby());
    const database = new URL((await primary.createDatabase()).reveal()).pathname.slice(1);
    const bouncer = cleanup.use(await startPgBouncer(primary.host));
    const limits = "limits: { project_model: { requests_per_minute: 400 } }\n";
    const environment = { DATABASE_URL: bouncer.urlOf(database) };
    const { services, stop } = await startReplicas(2, `${LOAD_MODEL}${limits}`, environment);
    cleanup.defer(stop);
    const bodyOf = () => ({ model: "parrot", messages: [{ role: "user", content: "Hm." }], max_completion_tokens: 5 });
    const sending = sendLoad({ services, clients: 20, seconds: 15, bodyOf });
    await pause(3_000);
    await primary.stop();
    await query(standby.host, "postgres", "select pg_promote()");
    bouncer.pointTo(standby.host);
    const sent = await sending;
    await untilCountersShared(services, 2, 30);
    const outcome = outcomeOf(sent);
    const slowest = Math.max(...sent.map(({ sentAt, answeredAt }) => answeredAt - sentAt));
    await stop();
    const [recorded] = await query(
      standby.host,
      database,
      "select sum(requests)::int as requests from usage_rollups where bucket_seconds = 86400",
    );
    console.log(`failover of PostgreSQL under load, slowest answer ${Math.round(slowest)} ms`, outcome, recorded);
    expect(outcome).toMatchObject({ broken: 0, other: 0 });
    expect(outcome.admitted).toBeGreaterThan(100);
    expect(outcome.admitted).toBeLessThanOrEqual(400);
    expect(slowest).toBeLessThan(10_000);
    expect(recorded).toEqual({ requests: outcome.admitted });
  },
);
