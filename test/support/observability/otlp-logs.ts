/** Log records of opentelemetry/proto/logs/v1/logs.proto. */

import type { PbfReader } from "pbf";
import { hex, type OtlpAttributes, type OtlpValue, readAttribute, readValue } from "./otlp-attributes.ts";

export interface ReceivedLog {
  /** 9: info, 13: warn, 17: error. */
  severity: number;
  severityText: string;
  body: OtlpValue;
  traceId: string;
  spanId: string;
  attributes: OtlpAttributes;
}

export function readLog(pbf: PbfReader): ReceivedLog {
  return pbf.readMessage<ReceivedLog>(
    (tag, log, inner) => {
      if (tag === 2) log.severity = inner.readVarint();
      if (tag === 3) log.severityText = inner.readString();
      if (tag === 5) log.body = readValue(inner);
      if (tag === 6) readAttribute(inner, log.attributes);
      if (tag === 9) log.traceId = hex(inner.readBytes());
      if (tag === 10) log.spanId = hex(inner.readBytes());
    },
    { severity: 0, severityText: "", body: "", traceId: "", spanId: "", attributes: {} },
  );
}
