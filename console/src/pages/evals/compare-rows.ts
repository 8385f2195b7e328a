/** Rows of several runs by their position. */

import type { EvalItem, EvalRun } from "./evals-api.ts";

export interface ComparedRow {
  position: number;
  /** Text that tells the row from others. */
  title: string;
  item: EvalItem["datasource_item"];
  /** Result in each run; undefined: the run has none yet. */
  results: (EvalItem | undefined)[];
}

export type RowFilter = "all" | "different" | "failed";

export function compareRows(items: readonly (readonly EvalItem[])[]): ComparedRow[] {
  const byRun = items.map((list) => new Map(list.map((item) => [item.datasource_item_id, item])));
  const positions = [...new Set(byRun.flatMap((list) => [...list.keys()]))].toSorted((a, b) => a - b);
  return positions.map((position) => {
    const results = byRun.map((list) => list.get(position));
    const item = results.find((each) => each !== undefined)?.datasource_item ?? {};
    return { position, item, title: titleOf(item, results), results };
  });
}

/** `different`: the runs disagree; `failed`: some run did not pass. */
export function matchesRow({ results }: ComparedRow, filter: RowFilter): boolean {
  const statuses = results.flatMap((result) => result?.status ?? []);
  if (filter === "failed") return statuses.some((status) => status !== "pass");
  return filter === "all" || new Set(statuses).size > 1;
}

/** Question of the row: a field, the last message of its input, or its first text. */
function titleOf(item: EvalItem["datasource_item"], results: readonly (EvalItem | undefined)[]): string {
  if (typeof item.question === "string" && item.question !== "") return item.question;
  const input = results.find((result) => (result?.sample.input.length ?? 0) > 0)?.sample.input;
  const messages = input ?? item.input ?? item.messages;
  const last: unknown = Array.isArray(messages) ? messages.at(-1)?.content : undefined;
  if (typeof last === "string") return last;
  const text = Object.values(item).find((value) => typeof value === "string");
  return typeof text === "string" ? text : JSON.stringify(last ?? item);
}

/** Name of a run, with the time where others have the same. */
export function columnTitle(run: EvalRun, runs: readonly EvalRun[], format: (seconds: number) => string): string {
  const isAlone = runs.every((other) => other === run || other.name !== run.name);
  return isAlone ? run.name : `${run.name}, ${format(run.created_at)}`;
}
