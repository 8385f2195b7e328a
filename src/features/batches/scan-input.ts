/** Reads the input of a batch once, to validate its lines and to find them later. */

import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { BatchError } from "../../wire/openai/batches.ts";
import { readBatchLine } from "./read-batch-line.ts";
import { readLines } from "./read-lines.ts";

export interface ScanLimits {
  maxLines: number;
  maxLineBytes: number;
}

/** Place of a line in the input. */
export interface LineLocation {
  offset: number;
  length: number;
}

export interface ScannedInput {
  lines: LineLocation[];
  /** The first problems; empty for a valid input. */
  errors: BatchError[];
}

const MAX_ERRORS = 100;
/** Lines without content cost time, and no limit on requests bounds them. */
const MAX_BLANK_LINES = 10_000;
/** Other requests wait for at most one slice and one line. */
const SLICE_MS = 10;

export async function scanInput(
  chunks: AsyncIterable<Uint8Array>,
  endpoint: string,
  { maxLines, maxLineBytes }: ScanLimits,
  signal: AbortSignal,
): Promise<ScannedInput> {
  const lines: LineLocation[] = [];
  const errors: BatchError[] = [];
  /** Digests of the custom IDs, which may be long. */
  const lineOfId = new Map<string, number>();
  let blankLines = 0;
  let sliceEnd = performance.now() + SLICE_MS;
  for await (const { number, offset, bytes } of readLines(untilAborted(chunks, signal), maxLineBytes)) {
    if (performance.now() >= sliceEnd) {
      await nextTurn();
      signal.throwIfAborted();
      sliceEnd = performance.now() + SLICE_MS;
    }
    const refuse = (error: Omit<BatchError, "line">) => errors.push({ ...error, line: number });
    if (bytes === undefined) {
      const message = `This line is longer than ${maxLineBytes} bytes, the limit for a request.`;
      refuse({ code: "line_too_long", message, param: null });
    } else if (bytes.length === 0) {
      blankLines += 1;
    } else {
      // A thread takes over the bytes of a large line.
      const { length } = bytes;
      const parsed = await readBatchLine(bytes, { endpoint, withBody: false });
      if ("code" in parsed) refuse(parsed);
      else {
        const digest = hash("sha1", parsed.customId, "base64");
        const first = lineOfId.get(digest);
        lineOfId.set(digest, first ?? number);
        if (first !== undefined) {
          const message = `The custom_id ${JSON.stringify(parsed.customId.slice(0, 100))} is also that of line ${first}.`;
          refuse({ code: "duplicate_custom_id", message, param: "custom_id" });
        }
        lines.push({ offset, length });
      }
    }
    if (blankLines > MAX_BLANK_LINES) {
      const message = `The file has more than ${MAX_BLANK_LINES} blank lines. Remove them.`;
      errors.push({ code: "too_many_blank_lines", message, param: null, line: number });
    }
    if (blankLines > MAX_BLANK_LINES || errors.length >= MAX_ERRORS) break;
    if (lines.length > maxLines) {
      const message = `The file has more than ${maxLines} requests, the limit for a batch. Split it into several batches.`;
      errors.push({ code: "too_many_tasks", message, param: null, line: number });
      break;
    }
  }
  if (lines.length === 0 && errors.length === 0) {
    errors.push({ code: "empty_file", message: "The file has no requests.", param: null, line: null });
  }
  return { lines, errors };
}

async function* untilAborted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}
