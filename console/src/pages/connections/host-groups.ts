import type { Deployment } from "../overview/overview-query.ts";
import type { Entry } from "./connections-api.ts";

/** A deployment as an entry of a model has it. */
export interface DeploymentValue {
  engine?: string;
  connection?: string;
  base_url?: string;
  model?: string;
  weight?: number;
  context_window?: number;
  abilities?: Readonly<Record<string, boolean>>;
}

export interface HostEntries {
  /** Name of the connection, or the host of an address; undefined: this machine. */
  name: string | undefined;
  address: string | undefined;
  /** The connection, unless its deployments have the address themselves. */
  connection: Entry | undefined;
  models: Entry[];
}

function deploymentsOf({ value }: Entry): readonly DeploymentValue[] {
  return (value as { deployments?: readonly DeploymentValue[] } | null)?.deployments ?? [];
}

/** Groups models by the hosts that run them: connections first, this machine last. A model can have several hosts. */
export function groupByHost(entries: readonly Entry[]): HostEntries[] {
  const groups = new Map<string, HostEntries>();
  for (const entry of entries.filter(({ kind }) => kind === "connection")) {
    const address = (entry.value as { base_url?: string } | null)?.base_url;
    groups.set(`connection:${entry.name}`, { name: entry.name, address, connection: entry, models: [] });
  }
  for (const model of entries.filter(({ kind }) => kind === "model")) {
    const deployments = deploymentsOf(model);
    for (const { connection, base_url: address } of deployments.length === 0
      ? ([{}] as DeploymentValue[])
      : deployments) {
      const host = address === undefined ? undefined : (URL.parse(address)?.host ?? address);
      const key = connection === undefined ? `host:${host ?? ""}` : `connection:${connection}`;
      const group = groups.get(key) ?? { name: connection ?? host, address, connection: undefined, models: [] };
      groups.set(key, group);
      if (!group.models.includes(model)) group.models.push(model);
    }
  }
  return [...groups.values()].sort((a, b) => Number(a.name === undefined) - Number(b.name === undefined));
}

/** What runs of a host's models, as the overview has it. */
export function runningOn({ address, models, name }: HostEntries, deployments: readonly Deployment[]): Deployment[] {
  const ids = new Set(models.map((model) => model.name));
  const host = address === undefined ? undefined : URL.parse(address)?.host;
  return deployments.filter(
    (each) =>
      ids.has(each.model) &&
      (name === undefined
        ? each.device !== "upstream"
        : host === undefined || each.host === null || each.host === host),
  );
}
