/** Metrics of opentelemetry/proto/metrics/v1/metrics.proto. */

import type { PbfReader } from "pbf";
import { type OtlpAttributes, readAttribute } from "./otlp-attributes.ts";

interface ReceivedPoint {
  attributes: OtlpAttributes;
  /** Number of a sum or a gauge. */
  value: number;
  /** Observations of a histogram. */
  count: number;
  sum: number;
  bucketCounts: number[];
  bounds: number[];
}

export interface ReceivedMetric {
  name: string;
  unit: string;
  kind: "gauge" | "sum" | "histogram";
  isMonotonic: boolean;
  /** 2: cumulative. */
  temporality: number;
  points: ReceivedPoint[];
}

export function readMetric(pbf: PbfReader): ReceivedMetric {
  return pbf.readMessage<ReceivedMetric>(
    (tag, metric, inner) => {
      if (tag === 1) metric.name = inner.readString();
      if (tag === 3) metric.unit = inner.readString();
      if (tag === 5 || tag === 7 || tag === 9) {
        metric.kind = ({ 5: "gauge", 7: "sum", 9: "histogram" } as const)[tag];
        readData(inner, metric);
      }
    },
    { name: "", unit: "", kind: "gauge", isMonotonic: false, temporality: 0, points: [] },
  );
}

function readData(pbf: PbfReader, metric: ReceivedMetric): void {
  pbf.readMessage((tag, _data, inner) => {
    if (tag === 1) metric.points.push(metric.kind === "histogram" ? readHistogramPoint(inner) : readNumberPoint(inner));
    if (tag === 2) metric.temporality = inner.readVarint();
    if (tag === 3) metric.isMonotonic = inner.readBoolean();
  }, null);
}

const emptyPoint = (): ReceivedPoint => ({ attributes: {}, value: 0, count: 0, sum: 0, bucketCounts: [], bounds: [] });

function readNumberPoint(pbf: PbfReader): ReceivedPoint {
  return pbf.readMessage((tag, point, inner) => {
    if (tag === 4) point.value = inner.readDouble();
    if (tag === 6) point.value = inner.readSFixed64();
    if (tag === 7) readAttribute(inner, point.attributes);
  }, emptyPoint());
}

function readHistogramPoint(pbf: PbfReader): ReceivedPoint {
  return pbf.readMessage((tag, point, inner) => {
    if (tag === 4) point.count = inner.readFixed64();
    if (tag === 5) point.sum = inner.readDouble();
    if (tag === 6) inner.readPackedFixed64(point.bucketCounts);
    if (tag === 7) inner.readPackedDouble(point.bounds);
    if (tag === 9) readAttribute(inner, point.attributes);
  }, emptyPoint());
}
