/** What each client did with the service: `clients.json`, and the page of the reference that it becomes. */

import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";

/** Result of one check of one client; `error` is null when it passed. */
export interface ClientCheck {
  client: string;
  version: string;
  check: string;
  error: string | null;
}

const CHECKS = resolve(import.meta.dirname, "clients.json");
export const CLIENTS_PAGE = resolve(import.meta.dirname, "../../docs/reference/clients.md");

export async function readChecks(): Promise<ClientCheck[]> {
  return JSON.parse(await readFile(CHECKS, "utf8")) as ClientCheck[];
}

/** Replaces the results of the clients that were driven and writes the page. */
export async function updateClientsTable(driven: readonly ClientCheck[]): Promise<void> {
  const isDriven = (client: string) => driven.some((check) => check.client === client);
  const kept = (await readChecks()).filter(({ client }) => !isDriven(client));
  const checks = [...kept, ...driven].sort((a, b) => a.client.localeCompare(b.client));
  await writeFile(CHECKS, `${JSON.stringify(checks, null, 2)}\n`);
  await writeFile(CLIENTS_PAGE, renderClientsTable(checks));
}

export function renderClientsTable(checks: readonly ClientCheck[]): string {
  const clients = Map.groupBy(checks, ({ client, version }) => `${client} | ${version}`);
  const rows = [...clients].map(([client, done]) => {
    const names = (works: boolean) => done.filter(({ error }) => (error === null) === works).map(({ check }) => check);
    return `| ${client} | ${names(true).join(", ") || "nothing"} | ${names(false).join(", ") || "nothing"} |`;
  });
  const names = Map.groupBy(checks, ({ client }) => client);
  const working = [...names.values()].filter((done) => done.every(({ error }) => error === null));
  return `# Clients

<!-- Written by UPDATE_CLIENTS=1 npm run test:clients. Do not edit. -->

Each client is installed in the version below and driven with its own defaults against a new installation: only the base URL and the key are set. Checks that need a capable model use a scripted one, because the default chat model is too small to choose tools well. The settings are in [Connect clients](../how-to/connect-clients.md).

${working.length} of ${names.size} clients work in all checks.

| Client | Version | Works | Fails |
|---|---|---|---|
${rows.join("\n")}
`;
}
