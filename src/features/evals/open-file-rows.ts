/** Rows of a file, each read when it is needed: all of them together may be more than memory holds. */

import { invalidRequest } from "../../kernel/faults.ts";
import { parseJsonOfAnySize } from "../../kernel/json/large-json.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { type EvalRowInput, EvalRowsSchema, MAX_EVAL_ROWS } from "../../wire/openai/evals/data-source.ts";
import { type ByteRange, type FileStore, InputReader, MAX_BLANK_LINES, scanLines } from "../files/index.ts";

export interface FileRows {
  count: number;
  /** Undefined: the file has fewer rows. */
  read: (position: number) => Promise<EvalRowInput | undefined>;
}

const MAX_LINE_BYTES = 10_000_000;
/** As many as a request may have. Receiving more from the thread that parses them would make others wait. */
const MAX_VALUES = 100_000;

/** Checks all rows. Throws a Fault that names the line that is no row, and the signal's reason. */
export async function openFileRows(
  files: Pick<FileStore, "find" | "readStored">,
  resource: ProjectResource,
  signal: AbortSignal,
): Promise<FileRows> {
  const { id } = await files.find(resource);
  const places: (ByteRange & { number: number })[] = [];
  let blankLines = 0;
  for await (const { number, offset, bytes } of scanLines(await files.readStored(id), MAX_LINE_BYTES, signal)) {
    if (bytes === undefined) throw invalid(number, `it has more than ${MAX_LINE_BYTES} bytes`);
    if (bytes.length === 0) {
      blankLines += 1;
      if (blankLines > MAX_BLANK_LINES) throw invalid(number, `the file has more than ${MAX_BLANK_LINES} blank lines`);
      continue;
    }
    if (places.length === MAX_EVAL_ROWS) throw invalid(number, `a run has at most ${MAX_EVAL_ROWS} rows`);
    // A thread takes over the bytes of a large line.
    places.push({ number, offset, length: bytes.length });
    await parseRow(number, bytes);
  }
  const last = places.at(-1);
  if (last === undefined) {
    throw invalidRequest(`The file ${id} has no rows.`, "data_source.source.id", "invalid_value");
  }
  const reader = new InputReader(last.offset + last.length, (range) => files.readStored(id, range));
  return {
    count: places.length,
    read: async (position) => {
      const place = places[position];
      return place && parseRow(place.number, await reader.line(place));
    },
  };
}

async function parseRow(number: number, bytes: Buffer): Promise<EvalRowInput> {
  const parsed = await parseJsonOfAnySize(bytes, { maxValues: MAX_VALUES });
  if (parsed.problem !== undefined) throw invalid(number, `it ${parsed.problem}`);
  const { success, data } = EvalRowsSchema.safeParse(parsed.value);
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
