/** Traces over OTLP (HTTP, protobuf). Imported only where it is configured. */

import type { IncomingHttpHeaders } from "node:http";
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Fault } from "../faults.ts";
import { VERSION } from "../version.ts";
import type { OpenTelemetryOptions } from "./open-tracing.ts";
import type { SpanAttributes, SpanOptions, TraceSpan, Tracing } from "./trace.ts";
import { isSampled, UnsampledSpan } from "./unsampled-span.ts";

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

const propagator = new W3CTraceContextPropagator();
const getter = {
  keys: (headers: IncomingHttpHeaders) => Object.keys(headers),
  get: (headers: IncomingHttpHeaders, name: string) => headers[name],
};
const setter = {
  set: (headers: Record<string, string>, name: string, value: string) => {
    headers[name] = value;
  },
};

export function startTracing({ endpoint, headers, sampleRatio, serviceName }: OpenTelemetryOptions): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, "")}/v1/traces`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])),
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName, "service.version": VERSION }),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("parlance", VERSION);
  return {
    begin: (received, describe) => {
      const { tracestate } = received;
      const traceparent = typeof received.traceparent === "string" ? received.traceparent : "";
      const decision = isSampled(traceparent);
      // Decided here, because the SDK's span of a request that is not sampled costs a sixth of a short request's CPU.
      if (!(decision ?? Math.random() < sampleRatio))
        return new UnsampledSpan(decision === undefined ? {} : { traceparent, tracestate });
      const { name, ...options } = describe();
      return startSpan(tracer, name, options, propagator.extract(ROOT_CONTEXT, received, getter));
    },
    // An unreachable collector must not delay the end.
    close: () => provider.shutdown().catch(() => {}),
  };
}

function startSpan(
  tracer: Tracer,
  name: string,
  { kind = "internal", attributes }: SpanOptions,
  parent: Context,
): TraceSpan {
  const span = tracer.startSpan(name, { kind: KINDS[kind], ...(attributes && { attributes }) }, parent);
  const context = trace.setSpan(parent, span);
  return new RecordedSpan(tracer, span, context);
}

function headersOf(context: Context): Record<string, string> {
  const headers: Record<string, string> = {};
  propagator.inject(context, headers, setter);
  return headers;
}

class RecordedSpan implements TraceSpan {
  readonly isRecorded = true;
  readonly traceId: string;
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;

  constructor(tracer: Tracer, span: Span, context: Context) {
    this.traceId = span.spanContext().traceId;
    this.#tracer = tracer;
    this.#span = span;
    this.#context = context;
  }

  headers(): Record<string, string> {
    return headersOf(this.#context);
  }

  start(name: string, options: SpanOptions = {}): TraceSpan {
    return startSpan(this.#tracer, name, options, this.#context);
  }

  end(attributes: SpanAttributes = {}, failure?: unknown): void {
    if (!this.#span.isRecording()) return;
    this.#span.setAttributes(attributes);
    if (failure !== undefined) {
      this.#span.setAttribute(
        "error.type",
        failure instanceof Fault ? (failure.code ?? failure.kind) : "internal_error",
      );
      // Messages of bugs may quote content.
      this.#span.setStatus({ code: SpanStatusCode.ERROR, ...(failure instanceof Fault && { message: failure.kind }) });
    }
    this.#span.end();
  }
}
