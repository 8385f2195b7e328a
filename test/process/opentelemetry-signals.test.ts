/** Metrics, logs and redacted content of a real service that OpenTelemetry's standard variables configure. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ReceivedMetric } from "../support/observability/otlp-metrics.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../support/observability/otlp-receiver.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const REDACT = `
export default async function redact(content) {
  const text = JSON.stringify(content);
  if (text.includes("explode")) throw new Error("cannot redact " + text);
  if (text.includes("withhold")) return undefined;
  return JSON.parse(text.replaceAll(/\\d{4}-\\d{4}/g, "[card]"));
}
`;

const cleanup = new AsyncDisposableStack();
let receiver: OtlpReceiver;
let requestsInPrometheus: number;
let log: Record<string, unknown>[];

beforeAll(async () => {
  receiver = cleanup.use(await startOtlpReceiver());
  const folder = cleanup.use(await temporaryDirectory());
  await writeFile(join(folder.path, "redact.mjs"), REDACT);
  const models = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{ text: "Yes, 1234-5678." }] }] }
  - id: caller
    task: chat
    deployments: [{ engine: scripted, abilities: { tools: true }, replies: [{ tool_calls: [{ name: look_up, arguments: { card: "1234-5678" } }] }] }]`;
  const upstream = await startServiceProcess({ config: models });
  const service = await startServiceProcess({
    config: `${models}
  - id: far
    task: chat
    deployments: [${deploymentAt(upstream, "parrot")}]
opentelemetry: { content: { redact: "${join(folder.path, "redact.mjs")}", max_bytes: 600 } }`,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-team=blue",
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_SERVICE_NAME: "from-variable",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    },
  });
  await say(service, "parrot", "Is it 1111-2222?");
  await say(service, "far", "Forward 1111-2222.");
  await say(service, "far", "Stream 1111-2222.", true);
  await say(service, "caller", "Call a tool.");
  await say(service, "parrot", "Please explode 1111-2222.");
  await say(service, "parrot", "Please withhold 1111-2222.");
  await say(service, "parrot", `Long: ${"1111-2222 ".repeat(1000)}`);
  await say(service, "missing", "Which model?");
  const { text } = { text: await (await service.fetch("/metrics")).text() };
  requestsInPrometheus = Number(/^parlance_requests_total\{.*model="parrot".*status="200".*\} (\d+)$/m.exec(text)?.[1]);
  await service.stop();
  await upstream.stop();
  log = service.log();
});

afterAll(() => cleanup.disposeAsync());

async function say(service: ServiceProcess, model: string, content: string, stream = false): Promise<void> {
  const tools = model === "caller" ? [{ type: "function", function: { name: "look_up" } }] : undefined;
  const body = { model, stream, tools, messages: [{ role: "user", content }] };
  await (await service.post("/v1/chat/completions", body)).text();
}

const metric = (name: string): ReceivedMetric => {
  const found = receiver.metrics.findLast((each) => each.name === name);
  if (found === undefined) throw new Error(`no metric ${name}: ${receiver.metrics.map((each) => each.name)}`);
  return found;
};

/** Engine spans of chats whose prompt begins with `start`. */
const chatOf = (start: string) =>
  receiver.spans.find(({ attributes }) => String(attributes["gen_ai.input.messages"]).includes(start))?.attributes ??
  {};

test("exports the values of /metrics, as cumulative sums of one process", () => {
  const requests = metric("parlance.requests");
  expect(requests).toMatchObject({ kind: "sum", isMonotonic: true, temporality: 2 });
  const point = requests.points.find(({ attributes: { model, status } }) => model === "parrot" && status === "200");
  expect(requestsInPrometheus).toBe(4);
  expect(point?.value).toBe(requestsInPrometheus);
  const durations = metric("parlance.request_duration");
  expect(durations).toMatchObject({ kind: "histogram", unit: "s", temporality: 2 });
  const ofParrot = durations.points.find(({ attributes }) => attributes.model === "parrot");
  expect(ofParrot?.count).toBe(4);
  expect(ofParrot?.bucketCounts.reduce((sum, count) => sum + count)).toBe(4);
  expect(ofParrot?.bucketCounts).toHaveLength((ofParrot?.bounds.length ?? 0) + 1);
  expect(metric("process_resident_memory").unit).toBe("By");
  expect(receiver.resource).toMatchObject({
    "service.name": "from-variable",
    "service.instance.id": expect.stringMatching(/^[\da-f-]{36}$/),
    "deployment.environment.name": "test",
  });
});

test("exports the metrics of the GenAI conventions", () => {
  const labels = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai-compatible",
    "gen_ai.request.model": "far",
  };
  const of = (name: string) =>
    metric(name).points.filter(({ attributes }) => attributes["gen_ai.request.model"] === "far");
  expect(of("gen_ai.client.operation.duration")).toMatchObject([{ attributes: labels, count: 2 }]);
  expect(of("gen_ai.server.time_to_first_token")).toMatchObject([{ attributes: labels, count: 2 }]);
  expect(of("gen_ai.client.token.usage")).toMatchObject([
    { attributes: { ...labels, "gen_ai.token.type": "input" }, count: 2 },
    { attributes: { ...labels, "gen_ai.token.type": "output" }, count: 2 },
  ]);
});

test("exports the lines of the log, those of requests within their spans", () => {
  const span = receiver.spans.find(
    ({ kind, attributes }) => kind === 2 && attributes["http.response.status_code"] === 404,
  );
  const ofRequest = receiver.logs.find(
    ({ attributes }) => attributes.requestId === span?.attributes["parlance.request_id"],
  );
  expect(ofRequest).toMatchObject({
    severity: 9,
    severityText: "info",
    body: "request",
    traceId: span?.traceId,
    spanId: span?.spanId,
    attributes: { status: 404, model: "missing" },
  });
  expect(receiver.logs.map(({ body }) => body)).toEqual(log.map(({ msg }) => msg));
  expect(receiver.logs.at(-1)?.body).toBe("stopped");
});

test("spans contain the messages that the operator's function returns", () => {
  const parts = [{ type: "text", content: "Yes, [card]." }];
  const answered = [{ role: "assistant", parts, finish_reason: "stop" }];
  const asked = chatOf("Is it");
  expect(JSON.parse(String(asked["gen_ai.input.messages"]))).toEqual([
    { role: "user", parts: [{ type: "text", content: "Is it [card]?" }] },
  ]);
  expect(JSON.parse(String(asked["gen_ai.output.messages"]))).toEqual(answered);
  for (const start of ["Forward", "Stream"])
    expect(JSON.parse(String(chatOf(start)["gen_ai.output.messages"]))).toEqual(answered);
  expect(JSON.parse(String(chatOf("Call a tool")["gen_ai.output.messages"]))).toMatchObject([
    { parts: [{ type: "tool_call", name: "look_up", arguments: '{"card":"[card]"}' }] },
  ]);
});

test("leaves content out that the function cannot redact or withholds, and limits its size", () => {
  const omitted = receiver.spans.filter(({ attributes }) => attributes["parlance.content_omitted"] === true);
  expect(omitted).toHaveLength(2);
  for (const { attributes } of omitted) expect(attributes["gen_ai.input.messages"]).toBeUndefined();
  expect(
    log.filter(({ msg }) => msg === "content was left out of a span, because it could not be redacted"),
  ).toHaveLength(1);
  const long = chatOf("Long:");
  expect(Buffer.byteLength(String(long["gen_ai.input.messages"]))).toBeLessThanOrEqual(600);
  expect(long["parlance.content_truncated"]).toBe(true);
  for (const unredacted of ["1111-2222", "1234-5678", "explode", "withhold"])
    expect(receiver.bytes().includes(unredacted)).toBe(false);
});

test("sends the headers of the variable with each signal", () => {
  for (const path of ["/v1/traces", "/v1/metrics", "/v1/logs"])
    expect(receiver.headers.find((each) => each.path === path)).toMatchObject({ "x-team": "blue" });
});
