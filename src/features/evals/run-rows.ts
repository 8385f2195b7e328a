/** Rows of new runs, with their sources encrypted. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { RunDataSource } from "../../wire/openai/evals/data-source.ts";
import type { SealedRows } from "../responses/index.ts";
import type { EvalRunRow } from "./eval-rows.ts";

/** What the runs of one request have in common. */
type Common = Pick<EvalRunRow, "evalId" | "projectId" | "keyId" | "metadata" | "comparisonId" | "createdAt">;

/** Each run stores its source, and the answer has it once for each run: together as much as a large request alone. */
const MAX_COMPARED_BYTES = 20_000_000;

/** Throws a Fault when the sources of a comparison are too large together. */
export async function toRunRows(
  content: SealedRows,
  common: Common,
  runs: readonly { name: string | undefined; source: RunDataSource }[],
): Promise<EvalRunRow[]> {
  const rows: EvalRunRow[] = [];
  let bytes = 0;
  for (const [index, { name, source }] of runs.entries()) {
    if (index > 0) await nextTurn();
    const id = newId("evalrun_");
    const sealed = content.seal({ table: "eval run", projectId: common.projectId, id }, source);
    bytes += sealed.length;
    if (index > 0 && bytes > MAX_COMPARED_BYTES) throw tooLarge(runs.length);
    rows.push({
      ...common,
      ...{ id, name: name ?? id, source: sealed, createdAt: common.createdAt + index },
      model: source.type === "jsonl" ? "" : (source.model ?? source.prompt?.id ?? ""),
      ...{ status: "queued", total: 0, error: null, rowIds: null, totals: null },
      ...{ starts: 0, endedAt: null, leaseId: null, dueAt: 0 },
    });
  }
  return rows;
}

function tooLarge(variants: number): Error {
  const message = `The ${variants} runs of this comparison would store more than ${MAX_COMPARED_BYTES} bytes, because each stores the data source. Upload the rows as a file, and name it as \`file_id\`.`;
  return invalidRequest(message, "data_source", "comparison_too_large");
}
