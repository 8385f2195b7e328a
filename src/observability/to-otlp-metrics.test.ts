import type { Registry } from "prom-client";
import { expect, test } from "vitest";
import { quotaMetrics } from "../features/quota/metrics.ts";
import { realtimeMetrics } from "../features/realtime/metrics.ts";
import { GenAiMetrics } from "./gen-ai-metrics.ts";
import { Metrics } from "./metrics.ts";
import { otlpName, toOtlpMetrics } from "./to-otlp-metrics.ts";

const TIMES = { startMs: 1000, nowMs: 61_000 };

async function convert(registry: Registry) {
  const metrics = toOtlpMetrics(await registry.getMetricsAsJSON(), TIMES);
  return (name: string) => metrics.find(({ descriptor }) => descriptor.name === name);
}

function serviceMetrics(): Metrics {
  const metrics = new Metrics({
    deployments: () => [
      {
        model: "m",
        deployment: "m/1",
        isUp: true,
        isCircuitOpen: false,
        waiting: 2,
        slotsInUse: 1,
        memoryBytes: 5,
        loadSeconds: undefined,
        engineLoad: undefined,
      },
    ],
    pools: () => [],
  });
  quotaMetrics(metrics.registry, () => ({ isShared: undefined, replicas: 1 }));
  realtimeMetrics(metrics.registry, () => 0);
  return metrics;
}

test("moves units and _total from the names, from which Prometheus adds them again", () => {
  expect(otlpName("parlance_request_duration_seconds", false)).toEqual({
    name: "parlance.request_duration",
    unit: "s",
  });
  expect(otlpName("parlance_model_memory_bytes", false)).toEqual({ name: "parlance.model_memory", unit: "By" });
  expect(otlpName("parlance_tokens_total", true)).toEqual({ name: "parlance.tokens", unit: "" });
  expect(otlpName("process_cpu_seconds_total", true)).toEqual({ name: "process_cpu", unit: "s" });
  expect(otlpName("nodejs_heap_size_total_bytes", false)).toEqual({ name: "nodejs_heap_size_total", unit: "By" });
});

test("counts each bucket of a histogram alone, for every series", async () => {
  const metrics = serviceMetrics();
  for (const [model, durationSeconds] of [
    ["a", 0.01],
    ["a", 0.03],
    ["a", 1000],
    ["b", 0.01],
  ] as const) {
    metrics.request({ operation: "chat/completions", model, status: 200, durationSeconds, ignoredFields: 0 });
  }
  const durations = (await convert(metrics.registry))("parlance.request_duration");
  expect(durations?.dataPoints.map(({ attributes, value }) => [attributes, value])).toEqual([
    [
      { operation: "chat/completions", model: "a" },
      {
        count: 3,
        sum: 1000.04,
        buckets: {
          boundaries: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
          counts: [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        },
      },
    ],
    [{ operation: "chat/completions", model: "b" }, expect.objectContaining({ count: 1, sum: 0.01 })],
  ]);
  expect(durations?.dataPoints[0]).toMatchObject({ startTime: [1, 0], endTime: [61, 0] });
});

test("converts counters to monotonic sums and leaves gauges without a value out", async () => {
  const metrics = serviceMetrics();
  metrics.refusal("m", "requests");
  const find = await convert(metrics.registry);
  expect(find("parlance.refusals")).toMatchObject({
    isMonotonic: true,
    dataPoints: [{ attributes: { model: "m", limit: "requests" }, value: 1 }],
  });
  expect(find("parlance.queue_length")).toMatchObject({ dataPoints: [{ value: 2 }] });
  expect(find("parlance.shared_counters_up")).toBeUndefined();
  expect(find("parlance.model_load")).toBeUndefined();
});

test("names metrics and attributes as the GenAI conventions do", async () => {
  const genAi = new GenAiMetrics();
  const measure = {
    operation: "chat",
    catalogId: "m",
    engine: "llama-cpp",
    durationSeconds: 1,
    firstTokenSeconds: 0.2,
    used: { promptTokens: 10, completionTokens: 3 },
  } as const;
  genAi.record({ ...measure, outcome: "finished" });
  genAi.record({
    ...measure,
    outcome: "failed",
    firstTokenSeconds: undefined,
    used: { promptTokens: 0, completionTokens: 0 },
  });
  const find = await convert(genAi.registry);
  const labels = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": "llama-cpp", "gen_ai.request.model": "m" };
  const durations = find("gen_ai.client.operation.duration");
  expect(durations?.descriptor.unit).toBe("s");
  expect(durations?.dataPoints.map(({ attributes }) => attributes)).toEqual([
    labels,
    { ...labels, "error.type": "failed" },
  ]);
  expect(find("gen_ai.server.time_to_first_token")?.dataPoints).toMatchObject([
    { attributes: labels, value: { count: 1, sum: 0.2 } },
  ]);
  expect(find("gen_ai.client.token.usage")?.dataPoints).toMatchObject([
    { attributes: { ...labels, "gen_ai.token.type": "input" }, value: { sum: 10 } },
    { attributes: { ...labels, "gen_ai.token.type": "output" }, value: { sum: 3 } },
  ]);
});
