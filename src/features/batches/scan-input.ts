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
  const checkId = uniqueIds();
  const takeTurns = turns(signal);
  let blankLines = 0;
  for await (const { number, offset, bytes } of readLines(untilAborted(chunks, signal), maxLineBytes)) {
    await takeTurns();
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

/** Returns a step that gives others a turn of the event loop after each slice of work. */
function turns(signal: AbortSignal): () => Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < sliceEnd) return;
    await nextTurn();
    signal.throwIfAborted();
    sliceEnd = performance.now() + SLICE_MS;
  };
}

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

async function* untilAborted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}
