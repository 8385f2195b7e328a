/** Personal data stays inside: what upstreams, logs, spans and the history get of it, in every format. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { startOtlpReceiver } from "../support/observability/otlp-receiver.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const EMAIL = "ada.lovelace@example.com";
const CARD = "4111 1111 1111 1111";
const TEXT = `Mail ${EMAIL} about card ${CARD}, C4 and S3.`;
const MASKED = "Mail <EMAIL_ADDRESS_1> about card <CREDIT_CARD_1>, C4 and S3.";

let upstream: EchoUpstream;
let otlp: Awaited<ReturnType<typeof startOtlpReceiver>>;
let service: ServiceProcess;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  otlp = await startOtlpReceiver();
  const deployment = deploymentAt(upstream, "echo");
  service = await startServiceProcess({
    until: "listening",
    config: `
builtin_models: false
guardrails: [{ type: pii }]
ollama: { enabled: true }
opentelemetry: { content: { redact: none } }
models:
  - { id: echo, task: chat, deployments: [${deployment}] }
  - { id: parrot, task: chat, deployments: [{ engine: scripted, context_window: 4000000, replies: [{ text: Hello }] }] }
  - { id: vectors, task: embedding, deployments: [${deployment}] }
  - { id: masked, task: chat, guardrails: [{ type: pii, action: mask, entities: [EMAIL_ADDRESS] }], deployments: [${deployment}] }
`,
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url },
  });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
  await otlp[Symbol.asyncDispose]();
});
beforeEach(() => {
  upstream.received.splice(0);
  upstream.failing = false;
});

const messages = [{ role: "user", content: TEXT }];
const tools = [{ type: "function", function: { name: "send", parameters: { type: "object" } } }];

/** Joins the texts of a stream's frames. */
async function streamed(response: Response, textOf: (frame: Record<string, never>) => unknown): Promise<string> {
  const body = await response.text();
  const frames = body.split("\n").filter((line) => line.startsWith("data: {") || line.startsWith("{"));
  return frames.map((line) => textOf(JSON.parse(line.replace(/^data: /, ""))) ?? "").join("");
}

// biome-ignore lint/suspicious/noExplicitAny: answers of six formats
type Any = any;

const FORMATS: Readonly<
  Record<string, [path: string, body: object, textOf: (response: Response) => Promise<unknown>]>
> = {
  "chat completions": [
    "/v1/chat/completions",
    { model: "echo", messages },
    async (response) => ((await response.json()) as Any).choices[0].message.content,
  ],
  "streamed chat completions": [
    "/v1/chat/completions",
    { model: "echo", messages, stream: true },
    (response) => streamed(response, (frame: Any) => frame.choices?.[0]?.delta?.content),
  ],
  responses: [
    "/v1/responses",
    { model: "echo", input: TEXT, store: false },
    async (response) => ((await response.json()) as Any).output[0].content[0].text,
  ],
  "streamed responses": [
    "/v1/responses",
    { model: "echo", input: TEXT, store: false, stream: true },
    (response) => streamed(response, (frame: Any) => (frame.type === "response.output_text.delta" ? frame.delta : "")),
  ],
  messages: [
    "/v1/messages",
    { model: "echo", max_tokens: 100, messages },
    async (response) => ((await response.json()) as Any).content[0].text,
  ],
  "streamed messages": [
    "/v1/messages",
    { model: "echo", max_tokens: 100, messages, stream: true },
    (response) => streamed(response, (frame: Any) => frame.delta?.text),
  ],
  completions: [
    "/v1/completions",
    { model: "echo", prompt: TEXT, max_tokens: 100 },
    async (response) => ((await response.json()) as Any).choices[0].text,
  ],
  "streamed completions": [
    "/v1/completions",
    { model: "echo", prompt: TEXT, max_tokens: 100, stream: true },
    (response) => streamed(response, (frame: Any) => frame.choices?.[0]?.text),
  ],
  generateContent: [
    "/v1beta/models/echo:generateContent",
    { contents: [{ parts: [{ text: TEXT }] }] },
    async (response) => ((await response.json()) as Any).candidates[0].content.parts[0].text,
  ],
  streamGenerateContent: [
    "/v1beta/models/echo:streamGenerateContent?alt=sse",
    { contents: [{ parts: [{ text: TEXT }] }] },
    (response) => streamed(response, (frame: Any) => frame.candidates?.[0]?.content.parts[0]?.text),
  ],
  "Ollama chats": [
    "/api/chat",
    { model: "echo", messages },
    (response) => streamed(response, (frame: Any) => frame.message?.content),
  ],
};

describe("mask_and_restore", () => {
  const part = (text: string) => ({ type: "text", text });
  test.each([
    ["parts of a message", [{ role: "user", content: [part("Mail ada.lovelace@exam"), part("ple.com now")] }], " now"],
    [
      "three parts",
      [{ role: "user", content: [part("Mail ada.lovelace@"), part("example"), part(".com now")] }],
      " now",
    ],
    [
      "two messages",
      [
        { role: "user", content: "Mail ada.lovelace@" },
        { role: "user", content: "example.com now" },
      ],
      " now",
    ],
    [
      "a message of its own",
      [
        { role: "user", content: "Mail ada.lovelace@exam" },
        { role: "assistant", content: "" },
        { role: "user", content: "ple.com" },
      ],
      "<EMAIL_ADDRESS_1>",
    ],
  ])("hides an address that is split over %s", async (_name, split, rest) => {
    const response = await service.post("/v1/chat/completions", { model: "echo", messages: split });
    expect(response.headers.get("x-parlance-guardrails")).toContain("EMAIL_ADDRESS:1");
    const sent = upstream.take();
    expect(sent).toContain("Mail <EMAIL_ADDRESS_1>");
    expect(sent).toContain(`${rest}"`);
    expect(sent).not.toMatch(/lovelace|ple\.com|example/);
  });

  // The detector of stalls watches it.
  test("masks a request of 5 MB", async () => {
    const content = `${TEXT} `.repeat(5_000_000 / TEXT.length);
    const response = await service.post("/v1/chat/completions", {
      model: "parrot",
      messages: [{ role: "user", content }],
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-parlance-guardrails")).toMatch(/masked;found="EMAIL_ADDRESS:\d{5}/);
  });

  test.each([
    ["a word", ["Hello", "@file.ts is wrong"]],
    ["a complete address", ["Mail ada.lovelace@example.com", "munity is all"]],
    ["a sign in a sentence", ["We meet @", "example.com is down"]],
  ])("leaves the text after %s", async (_name, [first, second]) => {
    const both = [first, second].map((content) => ({ role: "user", content }));
    await service.post("/v1/chat/completions", { model: "echo", messages: both });
    expect(upstream.take()).toContain(second);
  });

  test.each(Object.entries(FORMATS))(
    "keeps values from the upstream and gives them back in %s",
    async (_name, [path, body, textOf]) => {
      const response = await service.post(path, body);
      expect(response.headers.get("x-parlance-guardrails")).toBe(
        'pii;stage=input;outcome=masked;found="EMAIL_ADDRESS:1 CREDIT_CARD:1"',
      );
      expect(await textOf(response)).toBe(TEXT);
      const sent = upstream.take();
      expect(sent).toContain(MASKED);
      expect(sent).not.toContain(EMAIL);
      expect(sent).not.toContain(CARD);
    },
  );

  test.each([false, true])("gives values back in the arguments of tool calls (stream: %s)", async (stream) => {
    const quoted = `${TEXT} "quoted"`;
    const response = await service.post("/v1/chat/completions", {
      ...{ model: "echo", tools, stream },
      messages: [{ role: "user", content: quoted }],
    });
    const args = stream
      ? await streamed(response, (frame: Any) => frame.choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments)
      : ((await response.json()) as Any).choices[0].message.tool_calls[0].function.arguments;
    expect(JSON.parse(args)).toEqual({ to: quoted });
    expect(upstream.take()).not.toContain(EMAIL);
  });

  test("masks system prompts, results and arguments of tools, tool descriptions, stop texts and keys alike", async () => {
    const response = await service.post("/v1/chat/completions", {
      model: "echo",
      messages: [
        { role: "system", content: `You are ${EMAIL}.` },
        { role: "user", content: [{ type: "text", text: `I am ${EMAIL}.` }] },
        {
          ...{ role: "assistant", content: null },
          tool_calls: [
            {
              id: "c1",
              type: "function",
              function: { name: "send", arguments: `{"to":"ada.lovelace\\u0040example.com"}` },
            },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: `{"card": 4111111111111111, "from": "${EMAIL}"}` },
      ],
      stop: [EMAIL],
      prompt_cache_key: EMAIL,
      user: EMAIL,
      metadata: { user: EMAIL },
    });
    expect(response.status).toBe(200);
    const sent = upstream.take();
    for (const value of [EMAIL, "ada.lovelace", "4111111111111111"]) expect(sent).not.toContain(value);
    expect(JSON.parse(sent.slice(sent.indexOf("{"))).messages.at(-1).content).toBe(
      '{"card": "<CREDIT_CARD_1>", "from": "<EMAIL_ADDRESS_1>"}',
    );
  });

  test("keeps values from embeddings", async () => {
    const response = await service.post("/v1/embeddings", { model: "vectors", input: [TEXT, "plain"] });
    expect(response.status).toBe(200);
    expect(upstream.take()).toContain(MASKED);
  });

  test("refuses what it cannot read", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
    for (const [path, body] of [
      ["/v1/chat/completions", { model: "echo", messages: [{ role: "user", content: [image] }] }],
      ["/v1/completions", { model: "echo", prompt: [1, 2, 3] }],
      ["/v1/embeddings", { model: "vectors", input: [[1, 2, 3]] }],
      ["/v1/chat/completions", { model: "echo", messages, audio: { voice: "alloy" } }],
    ] as const) {
      const response = await service.post(path, body);
      expect([response.status, path]).toEqual([400, path]);
    }
    expect(upstream.take()).toBe("");
  });

  test("leaves no value in an error that repeats the request", async () => {
    upstream.failing = true;
    const response = await service.post("/v1/chat/completions", { model: "echo", messages });
    const message = await response.text();
    expect(message).not.toContain(EMAIL);
    expect(upstream.take()).not.toContain(EMAIL);
  });
});

test("a model's own guardrail masks without giving back", async () => {
  const response = await service.post("/v1/chat/completions", { model: "masked", messages });
  expect(response.status).toBe(200);
  expect(upstream.take()).not.toContain(EMAIL);
});

describe("what remains", () => {
  test("has the outcome in the history and the audit log, and no value in a log line, span, file or row", async () => {
    const response = await service.post("/v1/chat/completions", { model: "echo", messages });
    await response.text();
    const id = response.headers.get("x-request-id");
    const headers = { authorization: `Bearer ${service.adminKey}` };
    await expect
      .poll(async () => (await service.fetch(`/v1/organization/requests/${id}`, { headers })).json())
      .toMatchObject({
        guardrails: [
          { type: "pii", stage: "input", outcome: "masked", findings: { EMAIL_ADDRESS: 1, CREDIT_CARD: 1 } },
        ],
      });
    await expect
      .poll(async () => {
        const logs = await service.fetch("/v1/organization/audit_logs?event_types[]=guardrail.applied", { headers });
        return ((await logs.json()) as Any).data.find((each: Any) => each["guardrail.applied"].id === id);
      })
      .toMatchObject({ type: "guardrail.applied", actor: { type: "api_key" } });
    await service.stop();
    const spans = otlp.bytes().toString("latin1");
    expect(spans).toContain("<EMAIL_ADDRESS_1>");
    expect(spans).not.toContain(EMAIL);
    expect(service.output()).not.toContain(EMAIL);
    // Random IDs of the log contain the first four digits now and then.
    expect(service.output().replaceAll(/[ -]/g, "")).not.toContain(CARD.replaceAll(" ", ""));
  });
});
