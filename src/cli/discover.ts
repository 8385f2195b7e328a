/** `parlance discover`: finds inference servers on this machine. */

import { Command } from "commander";
import { stringify } from "yaml";
import { discoverHosts, KNOWN_PORTS } from "../features/configuration/connections/discover-hosts.ts";
import type { IdentifiedHost } from "../features/configuration/connections/identify-host.ts";
import { OutgoingGuard } from "../kernel/outgoing/outgoing-guard.ts";
import { toDiscoveredHosts } from "../wire/openai/organization/organization-connections.ts";
import { formatTable } from "./format-table.ts";

const TIMEOUT_MS = 15_000;

export function discoverCommand(): Command {
  return new Command("discover")
    .option("--port <port...>", "further ports to look at")
    .option("--yaml", "print connections and models for parlance.yaml")
    .option("--json", "print the servers as JSON")
    .addHelpText("after", `\nLooks at loopback addresses, ports ${KNOWN_PORTS.join(", ")}. Sends no keys.`)
    .action(async ({ port = [], yaml, json }: { port?: string[]; yaml?: true; json?: true }) => {
      const guard = new OutgoingGuard({ reach: "private", connectTimeoutMs: 2_000 });
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const ports = [...new Set([...KNOWN_PORTS, ...port.map(Number)])];
        const hosts = await discoverHosts({ guard, signal, except: [], ports });
        if (json === true) console.log(JSON.stringify(toDiscoveredHosts(hosts), undefined, 2));
        else if (yaml === true) console.log(stringify(toSettings(hosts)).trimEnd());
        else console.log(hosts.length === 0 ? "No inference server answers on this machine." : describe(hosts));
      } finally {
        await guard.close();
      }
    });
}

function describe(hosts: readonly IdentifiedHost[]): string {
  const rows = hosts.map(({ baseUrl, kind, version, isAccepted, models }) => [
    baseUrl,
    kind,
    version ?? "",
    isAccepted ? models.map(({ id }) => id).join(", ") : "needs a key",
  ]);
  return formatTable(["ADDRESS", "SERVER", "VERSION", "MODELS"], rows);
}

/** Connections and models as in parlance.yaml. Other instances of Parlance are left out: one of them may be this one. */
function toSettings(hosts: readonly IdentifiedHost[]) {
  const others = hosts.filter(({ kind, isAccepted }) => kind !== "parlance" && isAccepted);
  const named = others.map((host) => ({ ...host, name: `${host.kind}-${new URL(host.baseUrl).port}` }));
  const ids = new Set<string>();
  const models = named.flatMap(({ name, models: listed }) =>
    listed.flatMap(({ id, task = "chat", contextWindow }) => {
      if (ids.has(id)) return [];
      ids.add(id);
      const window = contextWindow !== undefined && { context_window: contextWindow };
      return [{ id, task, deployments: [{ connection: name, ...window }] }];
    }),
  );
  const connections = Object.fromEntries(named.map(({ name, baseUrl }) => [name, { base_url: baseUrl }]));
  return { connections, models };
}
