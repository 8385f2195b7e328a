import { toUnansweredLine } from "../../wire/openai/batch-lines.ts";
import { type FileStore, InputReader } from "../files/index.ts";
import type { BatchRow } from "./batch-rows.ts";
import type { LineRequest } from "./line-reader.ts";
import { readBatchLine } from "./read-batch-line.ts";
import type { LineLocation } from "./scan-input.ts";

type Batch = Pick<BatchRow, "id" | "endpoint" | "inputFileId">;

/** The scanned input of a batch, whose lines are read by their index. */
export class BatchInput {
  readonly #batch: Batch;
  readonly #lines: readonly LineLocation[];
  readonly #reader: InputReader;

  constructor(files: Pick<FileStore, "readStored">, batch: Batch, lines: readonly LineLocation[]) {
    this.#batch = batch;
    this.#lines = lines;
    const last = lines.at(-1);
    const size = last === undefined ? 0 : last.offset + last.length;
    this.#reader = new InputReader(size, (range) => files.readStored(batch.inputFileId, range));
  }

  get length(): number {
    return this.#lines.length;
  }

  /** Throws a Fault while the input cannot be read, and an Error for a line that has changed since the scan. */
  async read(index: number, withBody = true): Promise<LineRequest> {
    const { id, endpoint } = this.#batch;
    const json = await this.#reader.line(this.#lines[index] as LineLocation);
    const parsed = await readBatchLine(json, { endpoint, withBody });
    if ("code" in parsed) throw new Error(`the input of ${id} has changed: ${parsed.message}`);
    return parsed;
  }

  /** JSON of the lines that were not answered, for the file of errors. */
  async *unanswered(answered: Uint8Array, reason: "expired" | "cancelled"): AsyncGenerator<string> {
    for (const [index, isAnswered] of answered.entries()) {
      if (isAnswered === 0) yield toUnansweredLine((await this.read(index, false)).customId, reason);
    }
  }
}
