/** Upstream failures through the entire service: the caller's error and the number of attempts. */

import { parseEvents } from "../../../src/kernel/server-sent-events.ts";
import type { Service } from "../service/service.ts";
import type { FaultName, FaultyUpstream } from "./faulty-upstream.ts";

type UpstreamFault = FaultName | "refuses-connections" | "slow-tls-handshake";

/** The caller's error without another deployment. */
type Seen =
  | { status: 200; ends: "complete" | "error frame"; code?: string }
  | { status: number; code: string | null; retryAfter?: string };

export interface FaultRow {
  fault: UpstreamFault;
  stream: boolean;
  attempts: number;
  seen: Seen;
}

const FAILED = { status: 502, code: "upstream_error" };
const TIMED_OUT = { status: 504, code: "upstream_timeout" };
const COMPLETE: Seen = { status: 200, ends: "complete" };
const BROKEN_OFF: Seen = { status: 200, ends: "error frame", code: "upstream_error" };
const STALLED: Seen = { status: 200, ends: "error frame", code: "upstream_timeout" };

/** Attempts and result without a stream, then with one if that differs. */
const EXPECTED: Partial<Record<UpstreamFault, [attempts: number, json: Seen, stream?: Seen]>> = {
  none: [1, COMPLETE],
  gzip: [1, COMPLETE],
  "refuses-connections": [3, FAILED],
  "slow-tls-handshake": [1, TIMED_OUT],
  "never-answers": [1, TIMED_OUT],
  "headers-then-hangs": [1, TIMED_OUT],
  "hangs-midway": [1, TIMED_OUT, STALLED],
  // Single bytes count as progress of an answer, but not as an event of a stream.
  drips: [1, COMPLETE, TIMED_OUT],
  "resets-at-once": [3, FAILED],
  "resets-mid-chunk": [3, FAILED, BROKEN_OFF],
  "ends-early": [3, FAILED, BROKEN_OFF],
  "done-without-finish": [3, FAILED, BROKEN_OFF],
  "malformed-json": [3, FAILED, BROKEN_OFF],
  "error-frame-midway": [3, FAILED, BROKEN_OFF],
  "error-frame-first": [3, FAILED],
  "error-with-200": [3, FAILED],
  "html-page": [3, FAILED],
  "html-error": [3, FAILED],
  "huge-body": [1, FAILED],
  redirects: [3, FAILED],
  fails: [3, FAILED],
  "refuses-key": [1, FAILED],
  "knows-no-path": [3, FAILED],
  "says-408": [1, TIMED_OUT],
  "rate-limited": [3, { status: 429, code: "rate_limit_exceeded" }],
  "rate-limited-for-7s": [1, { status: 429, code: "rate_limit_exceeded", retryAfter: "7" }],
  "refuses-request": [1, { status: 400, code: "40012" }],
  "knows-no-model": [1, { status: 404, code: "not_found" }],
};

export const FAULT_ROWS: readonly FaultRow[] = Object.entries(EXPECTED).flatMap(([fault, [attempts, json, stream]]) => [
  { fault: fault as UpstreamFault, stream: false, attempts, seen: json },
  {
    fault: fault as UpstreamFault,
    stream: true,
    attempts: stream === undefined ? attempts : 1,
    seen: stream ?? json,
  },
]);

/** True if a second deployment serves the request: no retry after the first token or for an invalid request. */
export function isSavedElsewhere({ seen }: FaultRow): boolean {
  return seen.status === 502 || seen.status === 504 || seen.status === 429;
}

/** Timeouts of rows without a timeout fault, long enough for a busy machine. */
const PATIENCE_SECONDS = 30;

/** A model `FAULT` and one `FAULT-saved` with an honest second deployment, for each fault and kind of answer. */
export function faultsConfig(upstream: FaultyUpstream, timeoutSeconds: number): string {
  const urlOf = (fault: UpstreamFault) => {
    if (fault === "refuses-connections") return upstream.refusingUrl;
    return fault === "slow-tls-handshake" ? upstream.silentTlsUrl : upstream.baseUrlFor(fault);
  };
  const deployment = (url: string, first = PATIENCE_SECONDS, idle = first) => {
    const timeouts = `connect_timeout_seconds: ${first}, first_byte_timeout_seconds: ${first}, idle_timeout_seconds: ${idle}`;
    return `{ engine: openai-compatible, base_url: "${url}", ${timeouts}, max_response_bytes: 262144 }`;
  };
  const models = FAULT_ROWS.flatMap((row) => {
    const isTimedOut = "code" in row.seen && row.seen.code === TIMED_OUT.code;
    // A stream that stalls has begun.
    const first = isTimedOut && row.seen !== STALLED ? timeoutSeconds : PATIENCE_SECONDS;
    const faulty = deployment(urlOf(row.fault), first, isTimedOut ? timeoutSeconds : PATIENCE_SECONDS);
    const own = `{ id: ${modelOf(row)}, task: chat, circuit: { failures: 1000000, failure_rate: 1 }, deployments: [${faulty}`;
    return [
      `  - ${own}] }`,
      `  - ${own.replace(modelOf(row), `${modelOf(row)}-saved`)}, ${deployment(upstream.baseUrlFor("none"))}] }`,
    ];
  });
  return `builtin_models: false\nmodels:\n${models.join("\n")}\n`;
}

export function modelOf({ fault, stream }: FaultRow): string {
  return `${fault}-${stream ? "stream" : "json"}`;
}

export interface Outcome {
  seen: Seen;
  deployment: string | null;
  seconds: number;
}

export async function ask(service: Service, model: string, stream: boolean): Promise<Outcome> {
  const beganAt = performance.now();
  const body = { model, stream, messages: [{ role: "user", content: "Say it." }] };
  const response = await service.post("/v1/chat/completions", body);
  const text = await response.text();
  const seen = seenIn(response, text, stream);
  const seconds = (performance.now() - beganAt) / 1000;
  return { seen, deployment: response.headers.get("x-parlance-deployment"), seconds };
}

function seenIn({ status, headers }: Response, text: string, stream: boolean): Seen {
  if (status !== 200) {
    const { code } = JSON.parse(text).error;
    const retryAfter = headers.get("retry-after") ?? undefined;
    return { status, code, ...(retryAfter === undefined ? {} : { retryAfter }) };
  }
  if (!stream) {
    const { content } = JSON.parse(text).choices[0].message;
    if (content !== "abcdefgh") throw new Error(`not the complete answer: ${content}`);
    return COMPLETE;
  }
  const last = parseEvents(text).at(-1)?.data ?? "";
  if (last === "[DONE]") return COMPLETE;
  return { status: 200, ends: "error frame", code: JSON.parse(last).error.code };
}

/** Sums a metric over the lines that contain all of `labels`, such as `model="a"`. */
export async function metric(service: Service, name: string, ...labels: string[]): Promise<number> {
  const text = await (await fetch(`${service.origin}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(name) && labels.every((each) => line.includes(each)));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
