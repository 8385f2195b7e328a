import { randomUUID } from "node:crypto";
import type { TraceSpan } from "./trace.ts";

/** W3C Trace Context, version 00: trace ID, parent ID, flags. */
const TRACEPARENT = /^00-([\da-f]{32})-[\da-f]{16}-([\da-f]{2})$/;
const SAMPLED = 1;

/** Returns the decision in a `traceparent` header; undefined if it is invalid. */
export function isSampled(traceparent: string): boolean | undefined {
  const [, , flags] = TRACEPARENT.exec(traceparent) ?? [];
  return flags === undefined ? undefined : (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
}

/** Records nothing. Its headers let upstreams decide the same. */
export class UnsampledSpan implements TraceSpan {
  readonly spanId = undefined;
  readonly isRecorded = false;
  readonly recordsContent = false;
  #headers: Record<string, string> | undefined;

  /** `received`: valid headers of the caller; empty: the decision was made here. */
  constructor({
    traceparent,
    tracestate,
  }: { traceparent?: string | undefined; tracestate?: string | string[] | undefined }) {
    if (traceparent === undefined) return;
    this.#headers = { traceparent };
    if (typeof tracestate === "string") this.#headers.tracestate = tracestate;
  }

  get traceId(): string | undefined {
    return TRACEPARENT.exec(this.#headers?.traceparent ?? "")?.[1];
  }

  headers(): Readonly<Record<string, string>> {
    // IDs that nobody needs would cost time.
    this.#headers ??= { traceparent: unsampledTraceparent() };
    return this.#headers;
  }

  start(): TraceSpan {
    return this;
  }

  end(): void {}
}

/** One random ID serves as both: no span has the parent's. `randomUUID` takes its bytes from a pool. */
function unsampledTraceparent(): string {
  const traceId = randomUUID().replaceAll("-", "");
  return `00-${traceId}-${traceId.slice(16)}-00`;
}
