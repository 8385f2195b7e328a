/** Reads the input of a batch once, to validate its lines and to find them later. */

import { hash } from "node:crypto";
import type { BatchError } from "../../wire/openai/batches.ts";
import { type ByteRange, MAX_BLANK_LINES, scanLines } from "../files/index.ts";
import { readBatchLine } from "./read-batch-line.ts";

export interface ScanLimits {
  maxLines: number;
  maxLineBytes: number;
}

/** Place of a line in the input. */
export type LineLocation = ByteRange;

export interface ScannedInput {
  lines: LineLocation[];
  /** The first problems; empty for a valid input. */
  errors: BatchError[];
}

const MAX_ERRORS = 100;

export async function scanInput(
  chunks: AsyncIterable<Uint8Array>,
  endpoint: string,
  { maxLines, maxLineBytes }: ScanLimits,
  signal: AbortSignal,
): Promise<ScannedInput> {
  const lines: LineLocation[] = [];
  const errors: BatchError[] = [];
  const checkId = uniqueIds();
  let blankLines = 0;
  for await (const { number, offset, bytes } of scanLines(chunks, maxLineBytes, signal)) {
    if (bytes?.length === 0) blankLines += 1;
    else {
      // A thread takes over the bytes of a large line.
      const location = { offset, length: bytes?.length ?? 0 };
      const read =
        bytes === undefined ? tooLong(maxLineBytes) : await readBatchLine(bytes, { endpoint, withBody: false });
      const error = "customId" in read ? checkId(read.customId, number) : read;
      errors.push(...onLine(number, error));
      lines.push(...("customId" in read ? [location] : []));
    }
    const excess = excessOf({ blankLines, requests: lines.length, errors: errors.length }, maxLines);
    errors.push(...onLine(number, excess));
    if (excess !== undefined || errors.length >= MAX_ERRORS) break;
  }
  if (lines.length === 0 && errors.length === 0) {
    errors.push({ code: "empty_file", message: "The file has no requests.", param: null, line: null });
  }
  return { lines, errors };
}

const onLine = (line: number, error: LineError | undefined): BatchError[] =>
  error === undefined ? [] : [{ ...error, line }];

type LineError = Omit<BatchError, "line">;

function tooLong(maxLineBytes: number): LineError {
  const message = `This line is longer than ${maxLineBytes} bytes, the limit for a request.`;
  return { code: "line_too_long", message, param: null };
}

/** Returns a check that gives the error of a custom ID which an earlier line has. */
function uniqueIds(): (customId: string, line: number) => LineError | undefined {
  /** Digests of the custom IDs, which may be long. */
  const lineOfId = new Map<string, number>();
  return (customId, line) => {
    const digest = hash("sha1", customId, "base64");
    const first = lineOfId.get(digest);
    lineOfId.set(digest, first ?? line);
    if (first === undefined) return undefined;
    const message = `The custom_id ${JSON.stringify(customId.slice(0, 100))} is also that of line ${first}.`;
    return { code: "duplicate_custom_id", message, param: "custom_id" };
  };
}

/** Returns the error that ends the scan. */
function excessOf(
  { blankLines, requests, errors }: { blankLines: number; requests: number; errors: number },
  maxLines: number,
): LineError | undefined {
  if (blankLines > MAX_BLANK_LINES) {
    const message = `The file has more than ${MAX_BLANK_LINES} blank lines. Remove them.`;
    return { code: "too_many_blank_lines", message, param: null };
  }
  if (errors >= MAX_ERRORS || requests <= maxLines) return undefined;
  const message = `The file has more than ${maxLines} requests, the limit for a batch. Split it into several batches.`;
  return { code: "too_many_tasks", message, param: null };
}
