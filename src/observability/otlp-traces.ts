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
import { hrTime, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { ChatContent } from "../contracts/chat-content.ts";
import { Fault } from "../kernel/faults.ts";
import type { Logger } from "../kernel/logger.ts";
import { VERSION } from "../kernel/version.ts";
import { ContentCapture } from "./content-capture.ts";
import type { OpenTelemetryOptions, TracesOptions } from "./open-telemetry-options.ts";
import { exporterOptions, resourceOf, shutDown } from "./otlp-export.ts";
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

/** What all spans share. */
interface SharedTracing {
  tracer: Tracer;
  /** Undefined: spans contain no prompts and answers. */
  capture: ContentCapture | undefined;
  /** Spans that end once their content is redacted. */
  ending: Set<Promise<void>>;
}

/** Throws a Fault for a module of the configuration that cannot be loaded. */
export async function startTracing(
  options: OpenTelemetryOptions,
  { url, sampleRatio, content }: TracesOptions,
  logger: Logger,
): Promise<Tracing> {
  const provider = new TracerProvider({
    resource: resourceOf(options),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(exporterOptions(options, url)) })],
  });
  const shared: SharedTracing = {
    tracer: provider.getTracer("parlance", VERSION),
    capture: content && (await ContentCapture.open(content, logger)),
    ending: new Set(),
  };
  return {
    begin: (received, describe) => {
      const { tracestate } = received;
      const traceparent = typeof received.traceparent === "string" ? received.traceparent : "";
      const decision = isSampled(traceparent);
      // Decided here, because the SDK's span of a request that is not sampled costs a sixth of a short request's CPU.
      if (!(decision ?? Math.random() < sampleRatio))
        return new UnsampledSpan(decision === undefined ? {} : { traceparent, tracestate });
      const { name, ...options } = describe();
      return startSpan(shared, name, options, propagator.extract(ROOT_CONTEXT, received, getter));
    },
    close: async () => {
      await Promise.all(shared.ending);
      await shutDown(provider);
    },
  };
}

function startSpan(
  shared: SharedTracing,
  name: string,
  { kind = "internal", attributes }: SpanOptions,
  parent: Context,
): TraceSpan {
  const span = shared.tracer.startSpan(name, { kind: KINDS[kind], ...(attributes && { attributes }) }, parent);
  return new RecordedSpan(shared, span, trace.setSpan(parent, span));
}

function headersOf(context: Context): Record<string, string> {
  const headers: Record<string, string> = {};
  propagator.inject(context, headers, setter);
  return headers;
}

class RecordedSpan implements TraceSpan {
  readonly isRecorded = true;
  readonly traceId: string;
  readonly spanId: string;
  readonly #shared: SharedTracing;
  readonly #span: Span;
  readonly #context: Context;
  #isEnding = false;

  constructor(shared: SharedTracing, span: Span, context: Context) {
    const { traceId, spanId } = span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
    this.#shared = shared;
    this.#span = span;
    this.#context = context;
  }

  get recordsContent(): boolean {
    return this.#shared.capture !== undefined;
  }

  headers(): Record<string, string> {
    return headersOf(this.#context);
  }

  start(name: string, options: SpanOptions = {}): TraceSpan {
    return startSpan(this.#shared, name, options, this.#context);
  }

  end(attributes: SpanAttributes = {}, failure?: unknown, content?: ChatContent): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#span.setAttributes(attributes);
    if (failure !== undefined) {
      this.#span.setAttribute(
        "error.type",
        failure instanceof Fault ? (failure.code ?? failure.kind) : "internal_error",
      );
      // Messages of bugs may quote content.
      this.#span.setStatus({ code: SpanStatusCode.ERROR, ...(failure instanceof Fault && { message: failure.kind }) });
    }
    const { capture, ending } = this.#shared;
    if (capture === undefined || content === undefined) {
      this.#span.end();
      return;
    }
    const endedAt = hrTime();
    const ended = capture.attributesOf(content).then((messages) => {
      this.#span.setAttributes(messages);
      this.#span.end(endedAt);
      ending.delete(ended);
    });
    ending.add(ended);
  }
}
