import { invalidRequest } from "../../kernel/faults.ts";
import {
  type EvalRowInput,
  EvalRowsSchema,
  MAX_EVAL_ROWS,
  type RunSource,
} from "../../wire/openai/evals/data-source.ts";
import { readLines } from "../batches/index.ts";
import type { FileStore } from "../files/index.ts";

const MAX_LINE_BYTES = 10_000_000;

/** Reads rows of the request or of a file. Throws a Fault that names the line of a file that is no row. */
export async function readRows(
  files: Pick<FileStore, "find" | "readStored">,
  projectId: string,
  source: Extract<RunSource, { type: "file_content" | "file_id" }>,
): Promise<readonly EvalRowInput[]> {
  if (source.type === "file_content") return source.content;
  const { id } = await files.find({ projectId, id: source.id });
  const rows: EvalRowInput[] = [];
  for await (const { number, bytes } of readLines(await files.readStored(id), MAX_LINE_BYTES)) {
    if (bytes === undefined) throw invalid(number, `it has more than ${MAX_LINE_BYTES} bytes`);
    if (bytes.length === 0) continue;
    if (rows.length === MAX_EVAL_ROWS) throw invalid(number, `a run has at most ${MAX_EVAL_ROWS} rows`);
    rows.push(parseRow(number, bytes));
  }
  if (rows.length === 0) throw invalidRequest(`The file ${id} has no rows.`, "data_source.source.id", "invalid_value");
  return rows;
}

function parseRow(number: number, bytes: Buffer): EvalRowInput {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw invalid(number, "it is not JSON");
  }
  const { success, data } = EvalRowsSchema.safeParse(value);
  if (!success) throw invalid(number, 'it must be an object such as {"item": {…}}');
  return data;
}

function invalid(number: number, problem: string): Error {
  return invalidRequest(
    `Line ${number} of the file is no row of an eval: ${problem}.`,
    "data_source.source.id",
    "invalid_line",
  );
}
