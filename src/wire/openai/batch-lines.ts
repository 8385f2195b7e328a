/** Lines of a batch's input, output and error files. */

import { z } from "zod";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { parseJson } from "../../kernel/json/parse-json.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { BatchError } from "./batches.ts";
import { parse } from "./validate.ts";

/** As in requests that take lists of token IDs. */
const MAX_JSON_VALUES = 400_000;

const Line = lazy.looseObject(() => ({
  custom_id: z.string().min(1).max(512),
  method: z.literal("POST"),
  url: z.string(),
  body: z.looseObject({ model: z.string().min(1).optional() }),
}));

export interface ParsedLine {
  customId: string;
  body: Record<string, unknown>;
}

export type LineProblem = Omit<BatchError, "line">;

/** Parses a line of the input of a batch with this endpoint; returns its first problem otherwise. */
export function parseBatchLine(json: Buffer, endpoint: string): ParsedLine | LineProblem {
  const parsed = parseJson(json, { maxValues: MAX_JSON_VALUES });
  if (parsed.problem !== undefined) {
    return { code: "invalid_json_line", message: `This line ${parsed.problem}.`, param: null };
  }
  try {
    const { custom_id: customId, url, body } = parse(Line, parsed.value);
    if (url !== endpoint) return mismatchedUrl(url, endpoint);
    const mode = ["stream", "background"].find((each) => body[each] === true);
    if (mode !== undefined)
      return { code: "invalid_value", message: `A batch cannot use '${mode}'.`, param: `body.${mode}` };
    return { customId, body };
  } catch (failure) {
    if (!(failure instanceof Fault)) throw failure;
    return { code: failure.code ?? "invalid_request", message: failure.message, param: failure.param ?? null };
  }
}

function mismatchedUrl(url: string, endpoint: string): LineProblem {
  const message = `The url ${JSON.stringify(url.slice(0, 100))} is not the endpoint of the batch, ${JSON.stringify(endpoint)}.`;
  return { code: "mismatched_endpoint", message, param: "url" };
}

/** Answer of the request of a line. */
export interface AnsweredLine {
  status: number;
  requestId: string;
  /** JSON text. */
  body: string;
}

/** Renders the answer of a line as a line of the output, or of the error file. */
export function toAnsweredLine(customId: string, { status, requestId, body }: AnsweredLine): string {
  const head = `{"id":"${newLineId()}","custom_id":${JSON.stringify(customId)}`;
  const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${toOneLine(body)}}`;
  return `${head},"response":${response},"error":null}`;
}

const UNANSWERED = {
  expired: "This request could not be executed before the completion window expired.",
  cancelled: "This request was not executed because the batch was cancelled.",
} as const;

/** Renders a line that was not answered before the end of its batch as a line of the error file. */
export function toUnansweredLine(customId: string, reason: keyof typeof UNANSWERED): string {
  const error = { code: `batch_${reason}`, message: UNANSWERED[reason] };
  return JSON.stringify({ id: newLineId(), custom_id: customId, response: null, error });
}

/** Upstreams may answer with indented JSON. */
function toOneLine(json: string): string {
  return json.includes("\n") ? JSON.stringify(JSON.parse(json)) : json;
}

function newLineId(): string {
  return newId("batch_req_");
}
