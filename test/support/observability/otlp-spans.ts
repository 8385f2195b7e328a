/** Spans of opentelemetry/proto/trace/v1/trace.proto. */

import type { PbfReader } from "pbf";
import { hex, type OtlpAttributes, readAttribute } from "./otlp-attributes.ts";

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** 1: internal, 2: server, 3: client. */
  kind: number;
  attributes: OtlpAttributes;
  /** 2: error. */
  status: number;
}

export function readSpan(pbf: PbfReader): ReceivedSpan {
  return pbf.readMessage<ReceivedSpan>(
    (tag, span, inner) => {
      if (tag === 1) span.traceId = hex(inner.readBytes());
      if (tag === 2) span.spanId = hex(inner.readBytes());
      if (tag === 4) span.parentSpanId = hex(inner.readBytes());
      if (tag === 5) span.name = inner.readString();
      if (tag === 6) span.kind = inner.readVarint();
      if (tag === 9) readAttribute(inner, span.attributes);
      if (tag === 15)
        span.status = inner.readMessage<[number]>(
          (each, code, status) => {
            if (each === 3) code[0] = status.readVarint();
          },
          [0],
        )[0];
    },
    { traceId: "", spanId: "", parentSpanId: "", name: "", kind: 0, attributes: {}, status: 0 },
  );
}
