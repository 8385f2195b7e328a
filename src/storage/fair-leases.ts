/** Leases of rows in which projects take turns: the work of one does not hold up that of all others. */

import { sql } from "kysely";
import type { JobStore } from "../kernel/jobs/job-runner.ts";
import type { Database } from "./database.ts";
import type { LeasedRows } from "./leased-rows.ts";
import type { Schema } from "./schema.ts";

/** Tables of leased rows that have a project and an end. */
type FairTable = {
  [Name in keyof Schema]: Schema[Name] extends Needed ? Name : never;
}[keyof Schema] &
  string;

interface Needed {
  dueAt: number;
  projectId: string;
  createdAt: number;
  endedAt: number | null;
}

export interface FairLeasesOptions<Name extends FairTable, Row> {
  table: Name;
  rows: LeasedRows<Name, Row>;
  /** Rows of one project that a process leases at the same time. */
  maxPerProject: number;
}

/** Jobs that are such rows. */
export function fairLeases<Name extends FairTable, Row extends { projectId: string }>(
  database: Database,
  options: FairLeasesOptions<Name, Row>,
): JobStore<Row> {
  const { rows } = options;
  return {
    claim: async ({ limit, leaseMs, running }) => {
      const claimed: Row[] = [];
      while (claimed.length < limit) {
        const row = await claimFairly(database, options, { leaseMs, running: [...running, ...claimed] });
        if (row === undefined) break;
        claimed.push(row);
      }
      return claimed;
    },
    renew: (row, leaseMs) => rows.renew(row, leaseMs),
    release: (row, delayMs) => rows.release(row, delayMs),
  };
}

/**
 * Leases the oldest due row of the project with the fewest running ones. Undefined when none is due, or another replica
 * was faster.
 */
export async function claimFairly<Name extends FairTable, Row extends { projectId: string }>(
  database: Database,
  { table, rows, maxPerProject }: FairLeasesOptions<Name, Row>,
  { leaseMs, running }: { leaseMs: number; running: readonly Row[] },
): Promise<Row | undefined> {
  await rows.endEarlierLeases();
  const counts = new Map<string, number>();
  for (const { projectId } of running) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
  const countOf = (projectId: string) => counts.get(projectId) ?? 0;
  const full = [...counts.keys()].filter((projectId) => countOf(projectId) >= maxPerProject);
  const projects = await dueProjects(database, table, full);
  const [project] = projects.toSorted((a, b) => countOf(a) - countOf(b));
  if (project === undefined) return undefined;
  const [row] = await rows.claim({ limit: 1, leaseMs, where: sql`${sql.ref("projectId")} = ${project}` });
  return row;
}

/** Projects with a row that is due, those whose oldest one has waited longest first. */
async function dueProjects(database: Database, table: FairTable, excluded: readonly string[]): Promise<string[]> {
  const project = sql.ref("projectId");
  const others = excluded.length === 0 ? sql`` : sql`and ${project} not in (${sql.join(excluded)})`;
  const query = sql<{ projectId: string }>`
    select ${project} from ${sql.table(table)}
    where ${sql.ref("endedAt")} is null and ${sql.ref("dueAt")} <= ${database.now} ${others}
    group by ${project}
    order by min(${sql.ref("createdAt")})
  `;
  const { rows } = await database.run((executor) => query.execute(executor));
  return rows.map(({ projectId }) => projectId);
}
