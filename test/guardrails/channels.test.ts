/** No string of any request leaves unmasked: each place of each schema where a string may stand gets an address. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonSchema } from "../../src/wire/openapi/components.ts";
import { type EchoUpstream, startEchoUpstream } from "../support/guardrails/echo-upstream.ts";
import { MarkedValues, type SchemaDocument } from "../support/guardrails/marked-values.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const EMAIL = "ada.lovelace@example.com";
const MASKED = "EMAIL_ADDRESS_1";

interface Document extends SchemaDocument {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: JsonSchema }> } }>>;
}

let upstream: EchoUpstream;
let service: InProcessService;
let document: Document;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  const deployment = deploymentAt(upstream, "echo");
  const models = ["chat", "embedding", "moderation", "speech", "image", "transcription"].map(
    (task) => `  - { id: ${task}, task: ${task}, deployments: [${deployment}] }`,
  );
  service = await startService({
    config: `
builtin_models: false
ollama: { enabled: true }
guardrails: [{ type: pii, unreadable: pass }]
models:
${models.join("\n")}
`,
  });
  document = (await service.inject({ url: "/openapi.json" })).json();
});
afterAll(async () => {
  await service?.stop();
  await upstream?.[Symbol.asyncDispose]();
});

const MODELS: Readonly<Record<string, string>> = {
  "/v1/chat/completions": "chat",
  "/v1/completions": "chat",
  "/v1/responses": "chat",
  "/v1/messages": "chat",
  "/v1/fim/completions": "chat",
  "/v2/chat": "chat",
  "/v2/embed": "embedding",
  "/v2/rerank": "embedding",
  "/api/chat": "chat",
  "/api/generate": "chat",
  "/v1/embeddings": "embedding",
  "/v1/rerank": "embedding",
  "/api/embed": "embedding",
  "/v1beta/models/{model}:generateContent": "chat",
  "/v1beta/models/{model}:batchEmbedContents": "embedding",
  "/v1/moderations": "moderation",
  "/v1/audio/speech": "speech",
  "/v1/images/generations": "image",
};

/** Content of images, which `unreadable: pass` lets through. */
function isImage(value: unknown): boolean {
  return JSON.stringify(value).includes(`"images":["${EMAIL}"]`);
}

/** Fields that a request needs beside those that its schema requires. */
const DEFAULTS: Readonly<Record<string, object>> = { "/v1/responses": { input: "x", store: false } };

test.each(Object.entries(MODELS))("masks every string of %s", async (path, model) => {
  const schema = document.paths[path]?.post?.requestBody?.content["application/json"]?.schema;
  expect(schema).toBeDefined();
  const leaks: unknown[] = [];
  let masked = 0;
  for (const value of new MarkedValues(document, EMAIL).of(schema as JsonSchema)) {
    const payload = { ...DEFAULTS[path], ...(value as object), model };
    const headers = { authorization: `Bearer ${service.apiKey}` };
    await service.inject({ method: "POST", url: path.replace("{model}", model), headers, payload });
    const received = upstream.take();
    if (received.includes(EMAIL) && !isImage(value)) leaks.push(value);
    if (received.includes(MASKED)) masked += 1;
  }
  expect(leaks).toEqual([]);
  expect(masked).toBeGreaterThan(0);
});

const CARD = 4111111111111111;

test("masks IDs of calls alike in a call and its result, and keys and numbers of a tool's schema", async () => {
  const id = `call_${EMAIL}`;
  const call = { id, type: "function", function: { name: "send", arguments: "{}" } };
  const properties = { [EMAIL]: { type: "integer", enum: [CARD] } };
  const parameters = { type: "object", properties, required: [EMAIL] };
  const payload = {
    model: "chat",
    messages: [
      { role: "user", content: "Send it." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: id, content: "sent" },
    ],
    tools: [{ type: "function", function: { name: "send", parameters } }],
  };
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const response = await service.inject({ method: "POST", url: "/v1/chat/completions", headers, payload });
  expect(response.statusCode).toBe(200);
  const received = upstream.take();
  expect(received).not.toContain(EMAIL);
  expect(received).not.toContain(String(CARD));
  const sent = JSON.parse(received.slice(received.indexOf("{")));
  expect(sent.messages[1].tool_calls[0].id).toBe("EMAIL_ADDRESS_1");
  expect(sent.messages[2].tool_call_id).toBe("EMAIL_ADDRESS_1");
  const masked = sent.tools[0].function.parameters;
  expect(Object.keys(masked.properties)).toEqual(masked.required);
});

test("masks the name of an uploaded recording", async () => {
  const form = new FormData();
  form.append("model", "transcription");
  form.append("file", new File([Buffer.alloc(64)], `${EMAIL}.wav`));
  const encoded = new Response(form);
  const headers = {
    authorization: `Bearer ${service.apiKey}`,
    "content-type": encoded.headers.get("content-type") ?? "",
  };
  const payload = Buffer.from(await encoded.arrayBuffer());
  await service.inject({ method: "POST", url: "/v1/audio/transcriptions", headers, payload });
  const received = upstream.take();
  expect(received).toContain("filename=");
  expect(received).not.toContain(EMAIL);
});
