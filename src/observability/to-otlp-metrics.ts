/** Converts metrics of Prometheus to those of OTLP, so that a conversion back gives the same names. */

import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import { millisToHrTime } from "@opentelemetry/core";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue, MetricValueWithName } from "prom-client";

type PrometheusMetric = MetricObjectWithValues<MetricValue<string>>;
type Labels = MetricValue<string>["labels"];

interface Times {
  startTime: HrTime;
  endTime: HrTime;
}

const UNITS = { seconds: "s", bytes: "By" } as const;

/** Names of the conventions have dots, which prom-client does not allow. */
const NAMES: Readonly<Record<string, { name: string; unit: string }>> = {
  gen_ai_client_operation_duration_seconds: { name: "gen_ai.client.operation.duration", unit: "s" },
  gen_ai_server_time_to_first_token_seconds: { name: "gen_ai.server.time_to_first_token", unit: "s" },
  gen_ai_client_token_usage: { name: "gen_ai.client.token.usage", unit: "{token}" },
};
const ATTRIBUTES: Readonly<Record<string, string>> = {
  gen_ai_operation_name: "gen_ai.operation.name",
  gen_ai_provider_name: "gen_ai.provider.name",
  gen_ai_request_model: "gen_ai.request.model",
  gen_ai_token_type: "gen_ai.token.type",
  error_type: "error.type",
};

/** Sums are cumulative since `startMs`, the start of the process; both times are in epoch milliseconds. */
export function toOtlpMetrics(
  metrics: readonly PrometheusMetric[],
  { startMs, nowMs }: { startMs: number; nowMs: number },
): MetricData[] {
  const times = { startTime: millisToHrTime(startMs), endTime: millisToHrTime(nowMs) };
  return metrics.map((metric) => toMetric(metric, times)).filter(({ dataPoints }) => dataPoints.length > 0);
}

/** Prometheus appends the unit and, for counters, `_total` to OTLP's names, which have neither. */
export function otlpName(name: string, isCounter: boolean): { name: string; unit: string } {
  const metric = NAMES[name];
  if (metric !== undefined) return metric;
  const withoutTotal = isCounter ? name.replace(/_total$/, "") : name;
  const [suffix, unit] = /_(seconds|bytes)$/.exec(withoutTotal) ?? [];
  const base = suffix === undefined ? withoutTotal : withoutTotal.slice(0, -suffix.length);
  return { name: base.replace(/^parlance_/, "parlance."), unit: UNITS[unit as keyof typeof UNITS] ?? "" };
}

function toMetric(metric: PrometheusMetric, times: Times): MetricData {
  // prom-client declares an enum and returns its names.
  const type = metric.type as unknown as string;
  const descriptor = {
    ...otlpName(metric.name, type === "counter"),
    description: metric.help,
    valueType: ValueType.DOUBLE,
  };
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE } as const;
  if (type === "histogram")
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(metric, times) };
  const dataPoints = metric.values
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ ...times, attributes: toAttributes(labels), value }));
  return type === "counter"
    ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** Joins the values of each series, which prom-client lists one after the other: buckets, sum, count. */
function histograms({ name, values }: PrometheusMetric, times: Times): DataPoint<Histogram>[] {
  const series = new Map<string, { attributes: Attributes; bounds: number[]; counts: number[]; sum: number }>();
  for (const { metricName, labels, value } of values as MetricValueWithName<string>[]) {
    const { le, ...rest } = labels as Labels & { le?: number | "+Inf" };
    const key = JSON.stringify(rest);
    let each = series.get(key);
    if (each === undefined) {
      each = { attributes: toAttributes(rest), bounds: [], counts: [], sum: 0 };
      series.set(key, each);
    }
    if (metricName === `${name}_sum`) each.sum = value;
    if (le === undefined) continue;
    // OTLP counts each bucket alone, and has none for infinity.
    const below = each.counts.reduce((total, count) => total + count, 0);
    each.counts.push(value - below);
    if (le !== "+Inf") each.bounds.push(Number(le));
  }
  return [...series.values()].map(({ attributes, bounds, counts, sum }) => {
    const count = counts.reduce((total, each) => total + each, 0);
    return { ...times, attributes, value: { buckets: { boundaries: bounds, counts }, sum, count } };
  });
}

function toAttributes(labels: Labels): Attributes {
  return Object.fromEntries(
    Object.entries(labels)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => [ATTRIBUTES[name] ?? name, String(value)]),
  );
}
