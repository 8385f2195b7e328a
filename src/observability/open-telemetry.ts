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
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { Fault } from "../faults.ts";
import { VERSION } from "../version.ts";
import type { OpenTelemetryOptions } from "./open-tracing.ts";
import type { SpanAttributes, SpanOptions, TraceSpan, Tracing } from "./trace.ts";

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
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("parlance", VERSION);
  return {
    begin: (name, received, options) =>
      startSpan(tracer, name, options, propagator.extract(ROOT_CONTEXT, received, getter)),
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
  return span.isRecording() ? new RecordedSpan(tracer, span, context) : new UnsampledSpan(span, context);
}

function headersOf(context: Context): Record<string, string> {
  const headers: Record<string, string> = {};
  propagator.inject(context, headers, setter);
  return headers;
}

class RecordedSpan implements TraceSpan {
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

/** Passes the caller's decision on, and costs little otherwise. */
class UnsampledSpan implements TraceSpan {
  readonly traceId: string;
  readonly #context: Context;

  constructor(span: Span, context: Context) {
    this.traceId = span.spanContext().traceId;
    this.#context = context;
  }

  headers(): Record<string, string> {
    return headersOf(this.#context);
  }

  start(): TraceSpan {
    return this;
  }

  end(): void {}
}
