/** Traces, metrics and logs as OpenTelemetry's own collector reads them. `otel-collector.yaml` says how to build it. */

import { spawn, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../support/databases/redis.ts";
import { eventually } from "../support/service/eventually.ts";
import { startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

const COLLECTOR = process.env.OTEL_COLLECTOR ?? "otelcol";
const HAS_COLLECTOR = spawnSync(COLLECTOR, ["components"]).status === 0;
const WITHOUT_COLLECTOR = HAS_COLLECTOR ? "" : " (skipped: no collector on this machine; set OTEL_COLLECTOR)";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";

const cleanup = new AsyncDisposableStack();
let received = "";

/** All requests, then a stop, which sends everything. */
beforeAll(async () => {
  if (!HAS_COLLECTOR) return;
  const port = await freePort();
  await startCollector(port);
  const service = await startServiceProcess({
    config: `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{ text: Squawk }] }] }`,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_LOGS_EXPORTER: "otlp" },
  });
  const body = { model: "parrot", messages: [{ role: "user", content: "A secret-prompt." }] };
  const headers = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` };
  expect((await service.post("/v1/chat/completions", body, { headers })).status).toBe(200);
  await service.stop();
  await eventually(async () => expect(received).toContain("Body: Str(stopped)"));
  // The collector reports what it refuses.
  expect(service.output()).not.toContain("telemetry could not be exported");
}, 120_000);

afterAll(() => cleanup.disposeAsync());

async function startCollector(port: number): Promise<void> {
  const folder = cleanup.use(await temporaryDirectory());
  const file = join(folder.path, "collector.yaml");
  const pipeline = "{ receivers: [otlp], exporters: [debug] }";
  await writeFile(
    file,
    `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
exporters: { debug: { verbosity: detailed } }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { traces: ${pipeline}, metrics: ${pipeline}, logs: ${pipeline} }
`,
  );
  const collector = spawn(COLLECTOR, ["--config", `file:${file}`], { stdio: ["ignore", "ignore", "pipe"] });
  cleanup.defer(async () => {
    collector.kill();
    await new Promise((resolve) => collector.once("exit", resolve));
  });
  collector.stderr.on("data", (text) => {
    received += text;
  });
  await eventually(async () => expect(received).toContain("Everything is ready"));
}

/** The collector's description of the first item with this line. */
function itemWith(line: string): string {
  const items = received.split(/^(?:Span|Metric|LogRecord) #\d+$/m);
  return items.find((item) => item.includes(line)) ?? `nothing with ${line}`;
}

const field = (item: string, name: string) => new RegExp(`^ *${name} *: ?(.*)$`, "m").exec(item)?.[1];

test.skipIf(!HAS_COLLECTOR)(`a collector receives the spans of a trace${WITHOUT_COLLECTOR}`, () => {
  const request = itemWith(": POST /v1/chat/completions");
  const attempt = itemWith("Name           : attempt");
  const engine = itemWith(": chat parrot");
  for (const span of [request, attempt, engine]) expect(field(span, "Trace ID")).toBe(TRACE_ID);
  expect(field(request, "Parent ID")).toBe(PARENT_ID);
  expect(field(attempt, "Parent ID")).toBe(field(request, "ID"));
  expect(field(engine, "Parent ID")).toBe(field(attempt, "ID"));
  expect(engine).toContain("gen_ai.request.model: Str(parrot)");
});

test.skipIf(!HAS_COLLECTOR)(`a collector receives metrics with types and units${WITHOUT_COLLECTOR}`, () => {
  const requests = itemWith("Name: parlance.requests\n");
  expect(requests).toContain("DataType: Sum");
  expect(requests).toContain("IsMonotonic: true");
  expect(requests).toContain("AggregationTemporality: Cumulative");
  const durations = itemWith("Name: gen_ai.client.operation.duration\n");
  expect(durations).toContain("Unit: s");
  expect(durations).toContain("DataType: Histogram");
  expect(durations).toMatch(/^Count: 1$/m);
  expect(durations).toContain("gen_ai.provider.name: Str(scripted)");
});

test.skipIf(!HAS_COLLECTOR)(`a collector receives log records within their spans${WITHOUT_COLLECTOR}`, () => {
  const line = itemWith("Body: Str(request)");
  expect(field(line, "Trace ID")).toBe(TRACE_ID);
  expect(field(line, "Span ID")).toBe(field(itemWith(": POST /v1/chat/completions"), "ID"));
  expect(field(line, "SeverityText")).toBe("info");
  expect(received).not.toContain("secret-prompt");
  expect(received).not.toContain("Squawk");
});
