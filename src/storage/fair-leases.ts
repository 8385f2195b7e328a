/** Leases of rows in which projects take turns: the work of one does not hold up that of all others. */

import { type RawBuilder, sql } from "kysely";
import { growingCache } from "../kernel/growing-cache.ts";
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
  /** Which rows it leases; left out: all. */
  where?: RawBuilder<boolean>;
}

/** Time of the last turn by project, of `performance.now()`. */
interface Turns {
  get(projectId: string): number | undefined;
  set(projectId: string, time: number): unknown;
}

/** Since when a row has been waiting: its creation, or the time that a former run of it named. */
export const WAITING_SINCE = sql`case when ${sql.ref("dueAt")} = 0 then ${sql.ref("createdAt")} else ${sql.ref("dueAt")} end`;

/** Projects whose turns are remembered. */
const MAX_TURNS = 10_000;

/** Jobs that are such rows. */
export function fairLeases<Name extends FairTable, Row extends { projectId: string }>(
  database: Database,
  options: FairLeasesOptions<Name, Row>,
): JobStore<Row> {
  const { rows } = options;
  const turns = growingCache<number>(MAX_TURNS);
  return {
    claim: async ({ limit, leaseMs, running }) => {
      const claimed: Row[] = [];
      while (claimed.length < limit) {
        const row = await claimFairly(database, options, { leaseMs, running: [...running, ...claimed], turns });
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
 * Leases the first due row of the project with the fewest running ones, of several the one whose last turn was first:
 * a project with many rows that are due again and again would come before the others. Undefined when none is due, or
 * another replica was faster.
 */
export async function claimFairly<Name extends FairTable, Row extends { projectId: string }>(
  database: Database,
  { table, rows, maxPerProject, where = sql`1 = 1` }: FairLeasesOptions<Name, Row>,
  { leaseMs, running, turns }: { leaseMs: number; running: readonly Row[]; turns: Turns },
): Promise<Row | undefined> {
  await rows.endEarlierLeases();
  const counts = new Map<string, number>();
  for (const { projectId } of running) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
  const countOf = (projectId: string) => counts.get(projectId) ?? 0;
  const full = [...counts.keys()].filter((projectId) => countOf(projectId) >= maxPerProject);
  const projects = await dueProjects(database, table, full, where);
  const turnOf = (projectId: string) => turns.get(projectId) ?? 0;
  const [project] = projects.toSorted((a, b) => countOf(a) - countOf(b) || turnOf(a) - turnOf(b));
  if (project === undefined) return undefined;
  const [row] = await rows.claim({ limit: 1, leaseMs, where: sql`${sql.ref("projectId")} = ${project} and ${where}` });
  turns.set(project, performance.now());
  return row;
}

/** Projects with a row that is due, those whose oldest one has waited longest first. */
async function dueProjects(
  database: Database,
  table: FairTable,
  excluded: readonly string[],
  where: RawBuilder<boolean>,
): Promise<string[]> {
  const project = sql.ref("projectId");
  const others = excluded.length === 0 ? sql`` : sql`and ${project} not in (${sql.join(excluded)})`;
  const query = sql<{ projectId: string }>`
    select ${project} from ${sql.table(table)}
    where ${sql.ref("endedAt")} is null and ${sql.ref("dueAt")} <= ${database.now} and ${where} ${others}
    group by ${project}
    order by min(${WAITING_SINCE})
  `;
  const { rows } = await database.run((executor) => query.execute(executor));
  return rows.map(({ projectId }) => projectId);
}
