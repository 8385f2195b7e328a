import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, type Page, request } from "../../api/request.ts";

export type Eval = Answers["Eval"];
export type EvalRun = Answers["EvalRun"];
export type EvalItem = Answers["EvalOutputItem"];

const EVALS = "v1/evals";
const REFRESH_MS = 2_000;
/** Rows of a run that the page compares. */
export const MAX_ROWS = 500;
const PAGE_SIZE = 100;

export const evalsQuery = queryOptions({
  queryKey: ["evals"],
  queryFn: ({ signal }) => listAll<Eval>(EVALS, { order: "desc" }, signal),
});

/** An eval with its runs, newest first; read again while one runs. */
export function evalQuery(id: string) {
  return queryOptions({
    queryKey: ["eval", id],
    queryFn: async ({ signal }) => {
      const [definition, runs] = await Promise.all([
        request<Eval>(pathOf(id), { signal }),
        listAll<EvalRun>(`${pathOf(id)}/runs`, { order: "desc" }, signal),
      ]);
      return { definition, runs };
    },
    refetchInterval: ({ state }) => (state.data?.runs.some(isRunning) ? REFRESH_MS : false),
  });
}

/** Rows of a run with their results; `graded`: how many there are, so that new ones are read. */
export function itemsQuery({ id, eval_id: evalId }: EvalRun, graded: number) {
  return queryOptions({
    queryKey: ["eval", evalId, "items", id, graded],
    queryFn: async ({ signal }) => {
      const items: EvalItem[] = [];
      let after: string | undefined;
      do {
        const query = { limit: PAGE_SIZE, order: "asc", after };
        const path = `${pathOf(evalId)}/runs/${encodeURIComponent(id)}/output_items`;
        const page: Page<EvalItem> = await request(path, { query, signal });
        items.push(...page.data);
        after = page.has_more && items.length < MAX_ROWS ? (page.last_id ?? undefined) : undefined;
      } while (after !== undefined);
      return items;
    },
    placeholderData: (previous) => previous,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function isRunning({ status }: EvalRun): boolean {
  return status === "queued" || status === "in_progress";
}

export function gradedRows({ result_counts: { passed, failed, errored } }: EvalRun): number {
  return passed + failed + errored;
}

export function createEval(name: string, graders: readonly object[]): Promise<Eval> {
  const config = { type: "custom", item_schema: { type: "object" }, include_sample_schema: true };
  return request(EVALS, { method: "POST", body: { name, data_source_config: config, testing_criteria: graders } });
}

export function deleteEval(id: string): Promise<unknown> {
  return request(pathOf(id), { method: "DELETE" });
}

export function cancelRun({ id, eval_id: evalId }: EvalRun): Promise<EvalRun> {
  return request(`${pathOf(evalId)}/runs/${encodeURIComponent(id)}/cancel`, { method: "POST" });
}

export function deleteRun({ id, eval_id: evalId }: EvalRun): Promise<unknown> {
  return request(`${pathOf(evalId)}/runs/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** Prefixes of the queries that show evals. */
export const EVAL_QUERIES = [["eval"], ["evals"]];

export function pathOf(id: string): string {
  return `${EVALS}/${encodeURIComponent(id)}`;
}
