/** Spans of requests. OpenTelemetry is loaded only where it is configured; without it there are no spans. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingHttpHeaders } from "node:http";
import type { ChatContent } from "../contracts/chat-content.ts";

export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanOptions {
  kind?: "server" | "client" | "internal";
  attributes?: SpanAttributes;
}

export interface TraceSpan {
  /** Trace ID of the request, in hexadecimal; undefined before the first span of a request that is not recorded. */
  readonly traceId: string | undefined;
  /** In hexadecimal; undefined if it is not recorded. */
  readonly spanId: string | undefined;
  readonly isRecorded: boolean;
  /** Whether `end` takes the messages of a chat. */
  readonly recordsContent: boolean;
  /** W3C headers of requests that are part of the span. */
  headers(): Readonly<Record<string, string>>;
  /** Starts a span within this one. */
  start(name: string, options?: SpanOptions): TraceSpan;
  /** Only the first call counts. */
  end(attributes?: SpanAttributes, failure?: unknown, content?: ChatContent): void;
}

export interface Tracing {
  /** Starts the span of a request, within that of its caller if its headers name one. Describes only what is recorded. */
  begin(headers: IncomingHttpHeaders, describe: () => SpanOptions & { name: string }): TraceSpan;
  /** Sends what is left. */
  close(): Promise<void>;
}

const storage = new AsyncLocalStorage<TraceSpan>();

/** Returns the span that the caller runs in. */
export function currentSpan(): TraceSpan | undefined {
  return storage.getStore();
}

/** Runs `work` in the span. */
export function within<Result>(span: TraceSpan | undefined, work: () => Result): Result {
  return span === undefined ? work() : storage.run(span, work);
}
