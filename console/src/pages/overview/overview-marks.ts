/** Loads, restarts and retries of the last hour, as marks in a chart of its minutes. */

import type { ChartMark } from "../../components/charts/time-chart.tsx";
import { formatSeconds } from "../../components/format.ts";
import { plural, t } from "../../i18n/translate.ts";
import type { Overview } from "./overview-query.ts";

/** Further events of a minute are counted. */
const MAX_NAMES = 3;

export function marksOf({ minutes, deployments }: Pick<Overview, "minutes" | "deployments">): ChartMark[] {
  const start = minutes[0]?.start_time ?? 0;
  const eventsAt = (pick: (each: NonNullable<Overview["deployments"]>[number]) => [number | null, string]) => {
    const byMinute = new Map<number, string[]>();
    for (const each of deployments ?? []) {
      const [time, text] = pick(each);
      const index = time === null ? -1 : Math.floor((time - start) / 60);
      if (index < 0 || index >= minutes.length) continue;
      byMinute.set(index, [...(byMinute.get(index) ?? []), text]);
    }
    return byMinute;
  };
  const loads = eventsAt(({ loaded_at, load_seconds, deployment }) => [
    loaded_at,
    `${deployment} (${formatSeconds(load_seconds ?? 0)})`,
  ]);
  const restarts = eventsAt(({ restarted_at, deployment }) => [restarted_at, deployment]);
  const retries = minutes.flatMap(({ retries: count }, index) => (count === 0 ? [] : [[index, count] as const]));
  const toMarks = (events: ReadonlyMap<number, string[]>, textOf: (names: string) => string, color: string) =>
    [...events].map(([index, names]) => ({ index, text: textOf(listOf(names)), color, hasLine: true }));
  return [
    ...toMarks(loads, (names) => t("Loaded {{names}}", { names }), "var(--chart-3)"),
    ...toMarks(restarts, (names) => t("Restarted {{names}}", { names }), "var(--chart-bad)"),
    ...retries.map(([index, count]) => ({
      index,
      text: plural(count, "{{count}} retry", "{{count}} retries"),
      color: "var(--chart-2)",
    })),
  ];
}

function listOf(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return [...names.slice(0, MAX_NAMES), ...(rest > 0 ? [t("{{number}} more", { number: rest })] : [])].join(", ");
}
