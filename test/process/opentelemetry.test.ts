/** Traces of a real service that forwards to another traced one, as a receiver of OTLP gets them. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type OtlpReceiver, startOtlpReceiver } from "../support/observability/otlp-receiver.ts";
import type { ReceivedSpan } from "../support/observability/otlp-spans.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";
const UNSAMPLED_TRACE_ID = "1bf7651916cd43dd8448eb211c80319c";

const cleanup = new AsyncDisposableStack();
let receiver: OtlpReceiver;
let inner: OtlpReceiver;
let untracedId: string | null;
let failed: Response;

const traced = ({ url }: OtlpReceiver) => `
builtin_models: false
opentelemetry: { endpoint: "${url}", headers: { x-team: "\${TEAM}" }, service_name: gateway }
models:`;

/** All requests, then a stop, which sends every span. */
beforeAll(async () => {
  receiver = cleanup.use(await startOtlpReceiver());
  inner = cleanup.use(await startOtlpReceiver());
  const environment = { TEAM: "blue" };
  const upstream = await startService({
    config: `${traced(inner)}
  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{ text: Squawk }] }] }`,
    environment,
  });
  const service = await startService({
    config: `usage: { labels: { end_users: true, tag_metadata: [feature] } }
${traced(receiver)}
  - id: far
    task: chat
    retries: 0
    price: { prompt: "0.001", completion: "0.002" }
    deployments: [${deploymentAt(upstream, "parrot")}]
  - id: broken
    task: chat
    retries: 0
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:1/v1" }]
  - id: busy
    task: chat
    deployments: [{ engine: scripted, slots: 1, replies: [{ text: Hm., delay_ms_before_first: 200 }] }]`,
    environment,
  });
  const say = (model: string, traceparent?: string, stream = false) =>
    service.post(
      "/v1/chat/completions",
      {
        ...{ model, stream, messages: [{ role: "user", content: "Tell me a secret-prompt." }] },
        ...{ user: "ada", metadata: { session_id: "s-1", feature: "search" } },
      },
      traceparent === undefined ? {} : { headers: { traceparent } },
    );
  await (await say("far", `00-${TRACE_ID}-${PARENT_ID}-01`, true)).text();
  await (await say("far", `00-${UNSAMPLED_TRACE_ID}-${PARENT_ID}-00`)).text();
  failed = await say("broken");
  await Promise.all([say("busy"), say("busy")]);
  untracedId = (await service.fetch("/health/live")).headers.get("x-request-id");
  expect(logged(service, "far")).toEqual([TRACE_ID, UNSAMPLED_TRACE_ID]);
  await service.stop();
  await upstream.stop();
});

afterAll(() => cleanup.disposeAsync());

function logged(service: Service, model: string): unknown[] {
  return service
    .log()
    .filter((line) => line.msg === "request" && line.model === model)
    .map(({ traceId }) => traceId);
}

const find = (spans: readonly ReceivedSpan[], name: string, traceId = TRACE_ID) => {
  const span = spans.find((each) => each.name === name && each.traceId === traceId);
  if (span === undefined) throw new Error(`no span ${name}: ${spans.map((each) => each.name)}`);
  return span;
};

test("spans of a request, its attempt and its engine belong to the caller's trace", () => {
  const request = find(receiver.spans, "POST /v1/chat/completions");
  const attempt = find(receiver.spans, "attempt");
  const engine = find(receiver.spans, "chat far");
  expect(request).toMatchObject({ parentSpanId: PARENT_ID, kind: 2 });
  expect(request.attributes).toMatchObject({ "http.response.status_code": 200, "http.route": "/v1/chat/completions" });
  expect(attempt).toMatchObject({ parentSpanId: request.spanId, kind: 1 });
  expect(attempt.attributes).toMatchObject({ "parlance.outcome": "begun" });
  expect(engine).toMatchObject({ parentSpanId: attempt.spanId, kind: 3 });
  expect(engine.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai-compatible",
    "gen_ai.request.model": "far",
    "gen_ai.usage.output_tokens": 1,
    "parlance.outcome": "finished",
  });
  expect(engine.attributes["gen_ai.usage.input_tokens"]).toBeGreaterThan(0);
});

test("the engine's span has cost, user, session and tags as Langfuse and Phoenix read them", () => {
  const { attributes } = find(receiver.spans, "chat far");
  const input = Number(attributes["gen_ai.usage.input_tokens"]);
  const cost = expect.closeTo(input * 0.001 + 0.002, 9);
  expect(attributes).toMatchObject({
    ...{ "gen_ai.usage.cost": cost, "user.id": "ada", "session.id": "s-1", "gen_ai.conversation.id": "s-1" },
    ...{ "openinference.span.kind": "LLM", "llm.model_name": "far", "llm.cost.total": cost },
    ...{ "llm.token_count.prompt": input, "llm.token_count.completion": 1, "llm.token_count.total": input + 1 },
  });
  // Other spans of the trace do not repeat the cost, which would be summed twice.
  expect(find(receiver.spans, "attempt").attributes).not.toHaveProperty("llm.cost.total");
});

test("an upstream gets the engine's span as its parent", () => {
  const engine = find(receiver.spans, "chat far");
  expect(find(inner.spans, "POST /v1/chat/completions")).toMatchObject({ parentSpanId: engine.spanId });
  expect(find(inner.spans, "chat parrot").attributes).toMatchObject({ "gen_ai.provider.name": "scripted" });
});

test("the caller's decision not to sample is kept and passed on", () => {
  expect(receiver.spans.filter(({ traceId }) => traceId === UNSAMPLED_TRACE_ID)).toEqual([]);
  expect(inner.spans.filter(({ traceId }) => traceId === UNSAMPLED_TRACE_ID)).toEqual([]);
});

test("a failure marks its spans, and a wait for a slot has a span", () => {
  expect(failed.status).toBeGreaterThanOrEqual(500);
  const engine = receiver.spans.find(({ name }) => name === "chat broken");
  expect(engine).toMatchObject({ status: 2, attributes: { "error.type": expect.any(String) } });
  const request = receiver.spans.find(({ traceId, kind }) => traceId === engine?.traceId && kind === 2);
  expect(request).toMatchObject({ status: 2, attributes: { "http.response.status_code": failed.status } });
  expect(receiver.spans.filter(({ name }) => name === "queue")).toHaveLength(1);
});

test("metrics are exported by default, and logs are not", () => {
  expect(receiver.metrics.some(({ name }) => name === "parlance.requests")).toBe(true);
  expect(receiver.logs).toEqual([]);
});

test("traces have no prompts, answers or health checks", () => {
  for (const each of [receiver, inner]) {
    expect(each.bytes().includes("secret-prompt")).toBe(false);
    expect(each.bytes().includes("Squawk")).toBe(false);
  }
  expect(untracedId).toBeTruthy();
  expect(receiver.spans.some(({ attributes }) => attributes["parlance.request_id"] === untracedId)).toBe(false);
  expect(receiver.resource).toMatchObject({ "service.name": "gateway" });
  expect(receiver.headers[0]).toMatchObject({
    path: "/v1/traces",
    "content-type": "application/x-protobuf",
    "x-team": "blue",
  });
});
