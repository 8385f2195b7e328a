import type { ClientCheck } from "./python-clients.ts";

/** Renders the compatibility table of clients and versions as Markdown. */
export function clientsTable(checks: readonly ClientCheck[]): string {
  const rows = checks.map(
    ({ client, version, check, error }) => `| ${client} | ${version} | ${check} | ${error === null ? "yes" : "no"} |`,
  );
  return `# Clients\n\nWritten by \`npm run test:clients\`, which drives each client through its default path.\n\n| Client | Version | Check | Works |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}
