import { expect, test } from "vitest";
import { faultOfConfigText, loadConfigText } from "../../test/support/service/load-config-text.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

async function optionsOf(yaml: string | undefined, environment: Record<string, string> = {}) {
  const { config } = await loadConfigText(yaml, environment);
  return config.openTelemetry;
}

test("exports nothing without an endpoint, and traces and metrics with one", async () => {
  expect(await optionsOf(undefined)).toBeUndefined();
  expect(await optionsOf(undefined, ENDPOINT)).toEqual({
    headers: {},
    serviceName: "parlance",
    traces: { url: "http://collector:4318/v1/traces", sampleRatio: 1, content: undefined },
    metrics: { url: "http://collector:4318/v1/metrics", intervalMs: 60_000 },
    logs: undefined,
  });
  expect(await optionsOf(undefined, { ...ENDPOINT, OTEL_SDK_DISABLED: "true" })).toBeUndefined();
});

test("variables override the file", async () => {
  const options = await optionsOf(
    "opentelemetry: { endpoint: 'http://file:4318', sample_ratio: 0.5, signals: [logs], content: { redact: ./clean.mjs } }",
    {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://prometheus:9090/api/v1/otlp/v1/metrics",
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_LOGS_EXPORTER: "none",
      OTEL_TRACES_SAMPLER_ARG: "0.01",
      OTEL_METRIC_EXPORT_INTERVAL: "5000",
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "false",
    },
  );
  expect(options).toMatchObject({
    traces: { url: "http://collector:4318/v1/traces", sampleRatio: 0.01, content: undefined },
    metrics: { url: "http://prometheus:9090/api/v1/otlp/v1/metrics", intervalMs: 5000 },
    logs: undefined,
  });
});

test("content needs a module, relative to the file, or an explicit none", async () => {
  const yaml = (redact: string) => `opentelemetry: { endpoint: "http://a:4318", content: { redact: ${redact} } }`;
  const module = (await optionsOf(yaml("./clean.mjs")))?.traces?.content?.redact;
  expect(module).toMatch(/^\/.*\/clean\.mjs$/);
  expect((await optionsOf(yaml("none")))?.traces?.content).toEqual({ redact: undefined, maxBytes: 16_384 });
});

test.each([
  ["opentelemetry: { sample_ratio: 1 }", {}, "needs an endpoint, or the variable OTEL_EXPORTER_OTLP_ENDPOINT"],
  ["opentelemetry: { endpoint: 'http://a', content: {} }", {}, "opentelemetry.content.redact"],
  [
    "{}",
    { ...ENDPOINT, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" },
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: needs opentelemetry.content.redact",
  ],
  ["{}", { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "the only protocol that Parlance exports"],
  ["{}", { OTEL_TRACES_SAMPLER_ARG: "2" }, "OTEL_TRACES_SAMPLER_ARG"],
])("rejects %s with %o", async (yaml, environment, message) => {
  expect(await faultOfConfigText(yaml, environment)).toContain(message);
});
