/** Deployments by host, for installations with many of them. */

import { t } from "../../i18n/translate.ts";
import type { Deployment } from "./overview-query.ts";

export interface HostGroup {
  host: string;
  /** Those in trouble first. */
  deployments: Deployment[];
  slotsInUse: number;
  /** Slots of the deployments that have a limit. */
  slots: number;
  waiting: number;
}

/** Fewer deployments are shown one by one. */
const MIN_GROUPED = 13;

/** Returns undefined while there are few deployments, or only one host. Hosts in trouble come first. */
export function groupByHost(deployments: readonly Deployment[]): HostGroup[] | undefined {
  if (deployments.length < MIN_GROUPED) return undefined;
  const groups = Map.groupBy(deployments, ({ host, device, engine }) =>
    host === null ? (device === "upstream" ? engine : t("This machine")) : host,
  );
  if (groups.size < 2) return undefined;
  const sum = (list: readonly Deployment[], pick: (each: Deployment) => number) =>
    list.reduce((total, each) => total + pick(each), 0);
  return [...groups]
    .map(([host, list]) => ({
      host,
      deployments: list.toSorted((a, b) => trouble(b) - trouble(a)),
      slotsInUse: sum(list, ({ slots_in_use }) => slots_in_use),
      slots: sum(list, ({ slots }) => slots ?? 0),
      waiting: sum(list, ({ waiting }) => waiting),
    }))
    .sort((a, b) => troubleOf(b) - troubleOf(a));
}

function troubleOf({ deployments }: HostGroup): number {
  return Math.max(...deployments.map(trouble));
}

/** 0 while it works. */
function trouble({ state, circuit }: Deployment): number {
  if (circuit === "open" || state === "failed") return 2;
  return state === "restarting" || circuit !== "closed" ? 1 : 0;
}

/** CSS color of a deployment's state. */
export function stateColor(deployment: Deployment): string {
  const severity = trouble(deployment);
  if (severity === 2) return "var(--chart-bad)";
  if (severity === 1 || deployment.waiting > 0) return "var(--chart-2)";
  return deployment.state === "up" ? "var(--chart-1)" : "var(--chart-muted)";
}
