import { afterAll, afterEach } from "vitest";
import { type ClientCheck, updateClientsTable } from "./clients-table.ts";

/** Writes the table and the recordings, instead of only driving the clients. */
export const UPDATES = process.env.UPDATE_CLIENTS === "1";

/** Adds each test of this file to the table of clients. The name of its suite is the client. */
export function reportChecks(versionOf: (client: string) => string): void {
  const checks: ClientCheck[] = [];
  afterEach(({ task }) => {
    const client = task.suite?.name ?? "";
    const error = task.result?.errors?.[0]?.message ?? null;
    checks.push({ client, version: versionOf(client), check: task.name, error });
  });
  afterAll(async () => {
    if (UPDATES) await updateClientsTable(checks);
  });
}
