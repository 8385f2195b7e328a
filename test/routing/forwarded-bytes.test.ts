/** What an upstream gets of a chat body. */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";

let service: Service;
let body = "";
let length: string | undefined;
const upstream = createServer((request, response) => {
  body = "";
  request.setEncoding("utf8").on("data", (part) => {
    body += part;
  });
  request.on("end", () => {
    length = request.headers["content-length"];
    if (request.url?.startsWith("/broken/") === true) {
      response.statusCode = 500;
      response.end();
      return;
    }
    const message = { role: "assistant", content: "hi" };
    response.setHeader("content-type", "application/json");
    const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const envelope = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "own" };
    response.end(JSON.stringify({ ...envelope, choices, usage }));
  });
});

beforeAll(async () => {
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const deployment = `{ engine: openai-compatible, base_url: "${url}", model: own }`;
  const models = [
    `{ id: plain, task: chat, deployments: [${deployment}] }`,
    `{ id: retried, task: chat, strategy: ordered, deployments: [${deployment.replace("/v1", "/broken/v1")}, ${deployment}] }`,
    `{ id: cool, task: chat, defaults: { temperature: 0.5 }, deployments: [${deployment}] }`,
  ];
  service = await startService({ config: `builtin_models: false\nmodels: [${models.join(", ")}]\n` });
});
afterAll(async () => {
  await service?.stop();
  upstream.close();
});

const send = (sent: string) =>
  service.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: sent,
  });

async function forwarded(sent: string): Promise<string> {
  const response = await send(sent);
  expect(response.status).toBe(200);
  await response.text();
  return body;
}

const MESSAGES = '"messages":[{"role":"user","content":"caf\\u00e9"}]';

test("keeps every byte but the model's name", async () => {
  const rest = `${MESSAGES}, "seed": 9007199254740991, "x_own": [1.50, {"a":null}]}`;
  expect(await forwarded(`{"model":"plain",${rest}`)).toBe(`{"model":"own",${rest}`);
});

const LONG = 'It said \\"caf\\u00e9 é\\", and\\n'.repeat(5_000);
const LONG_MESSAGES = `"messages": [{"role":"user","content":"${LONG}"}, {"content":[{"type":"text","text":"${LONG}"}],"role":"user"}]`;

test.each([
  ["before", `"model":"plain",${LONG_MESSAGES}`],
  ["behind", `${LONG_MESSAGES},"model":"plain"`],
])("keeps every byte of a large body with the model's name %s the messages", async (_place, members) => {
  expect(await forwarded(`{${members}}`)).toBe(`{${members.replace('"plain"', '"own"')}}`);
  expect(length).toBe(String(Buffer.byteLength(body)));
});

test("sends every byte of a large body again after a failure", async () => {
  expect(await forwarded(`{"model":"retried",${LONG_MESSAGES}}`)).toBe(`{"model":"own",${LONG_MESSAGES}}`);
});

test("sends the long texts of a body that it writes again", async () => {
  const sent = JSON.parse(await forwarded(`{"model":"cool",${LONG_MESSAGES}}`));
  expect(sent).toEqual({ ...JSON.parse(`{${LONG_MESSAGES}}`), model: "own", temperature: 0.5 });
});

test("refuses a large body for the same reason as a small one", async () => {
  const response = await send(`{"model":"plain",${LONG_MESSAGES.replace(/"role":"user"}\]$/, '"role":"users"}]')}}`);
  expect(response.status).toBe(400);
  const { error } = (await response.json()) as { error: object };
  expect(error).toMatchObject({ param: "messages[1].role", code: "invalid_value" });
});

test("asks a stream for usage", async () => {
  // Fails after the request, because this upstream answers without a stream.
  await send(`{"model":"plain","stream":true,${MESSAGES}}`);
  expect(JSON.parse(body)).toMatchObject({ model: "own", stream: true, stream_options: { include_usage: true } });
});

test("adds a model's defaults", async () => {
  expect(JSON.parse(await forwarded(`{"model":"cool",${MESSAGES}}`))).toMatchObject({ model: "own", temperature: 0.5 });
});

test.each([
  ["drops null, which some upstreams refuse", `{"model":"plain","stop":null,${MESSAGES}}`],
  ["sends one of two members of one name", `{"model":"other","model":"plain",${MESSAGES}}`],
])("%s", async (_name, sent) => {
  const { model, messages } = JSON.parse(await forwarded(sent));
  expect(Object.keys(JSON.parse(body)).sort()).toEqual(["messages", "model"]);
  expect(body.match(/"model"/g)).toHaveLength(1);
  expect({ model, messages }).toEqual({ model: "own", messages: [{ role: "user", content: "café" }] });
});
