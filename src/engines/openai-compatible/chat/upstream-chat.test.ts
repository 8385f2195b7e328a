import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { makeEngineServices } from "../../../../test/support/models/engine-services.ts";
import { forward, makeChatCall } from "../../../../test/support/service/chat-request.ts";
import { framesOf, readAnswer } from "../../../../test/support/service/read-answer.ts";
import { startFaultyUpstream, UPSTREAM_KEY } from "../../../../test/support/upstreams/faulty-upstream.ts";
import { type OpenAiUpstreamOptions, startOpenAiUpstream } from "../../../../test/support/upstreams/openai-upstream.ts";
import type { ChatProxy } from "../../../contracts/chat-proxy.ts";
import { ScriptedChat } from "../../scripted/scripted-chat.ts";
import { scriptedSettings } from "../../scripted/settings.ts";
import { openAiCompatibleEngine } from "../openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "../settings.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const never = () => new AbortController().signal;

async function openModel(baseUrl: string, settings: object = {}, catalogId = "test-model"): Promise<ChatProxy> {
  const parsed = openAiCompatibleSettings.parse({ base_url: baseUrl, ...settings });
  const model = (await openAiCompatibleEngine.open(parsed, "chat", makeEngineServices({ catalogId }))) as ChatProxy;
  cleanups.push(() => model.close());
  return model;
}

async function startUpstream(replies: object[], options?: OpenAiUpstreamOptions) {
  const upstream = await startOpenAiUpstream(new ScriptedChat(scriptedSettings.parse({ replies })), options);
  cleanups.push(() => upstream.close());
  return upstream;
}

test("sends the deployment's key and model, and answers under the catalog ID", async () => {
  const upstream = await startUpstream([{ text: "Hello there" }]);
  const settings = { api_key: UPSTREAM_KEY, headers: { "x-team": "blue" } };
  const model = await openModel(upstream.baseUrl, settings, "hub/*");
  for (const stream of [true, false]) {
    const request = makeChatCall({ model: "hub/owner/small", stream, user: "u1" });
    const { text, events } = await readAnswer(forward(model, request, never()));
    expect(text).toBe("Hello there");
    for (const event of events) {
      if (event.type === "frames") {
        for (const frame of framesOf(event.frames)) expect(frame).toMatchObject({ model: "hub/owner/small" });
      }
      if (event.type === "finish" && !stream) expect(event.completion?.fields.model).toBe("hub/owner/small");
    }
  }
  expect(upstream.received).toHaveLength(2);
  for (const { path, headers, body } of upstream.received) {
    expect(path).toBe("/v1/chat/completions");
    expect(headers).toMatchObject({
      authorization: `Bearer ${UPSTREAM_KEY}`,
      "x-team": "blue",
      "accept-encoding": "identity",
    });
    expect(body).toMatchObject({ model: "owner/small", user: "u1" });
  }
});

test("removes usage from the stream and reports it at the end", async () => {
  const upstream = await startUpstream([{ text: "one two three" }]);
  const model = await openModel(upstream.baseUrl);
  const { events, finish } = await readAnswer(forward(model, makeChatCall({ say: "a b c" }), never()));
  const frames = events.flatMap((event) => (event.type === "frames" ? framesOf(event.frames) : []));
  expect(frames.some((frame) => "usage" in frame)).toBe(false);
  expect(finish?.usage).toEqual({
    promptTokens: 4,
    completionTokens: 3,
    cachedTokens: 0,
    // More than the completion has are not possible.
    reasoningTokens: 3,
    estimated: false,
  });
  expect(framesOf(finish?.usageFrame ?? new Uint8Array())).toMatchObject([
    {
      id: "chatcmpl-upstream",
      choices: [],
      usage: { total_tokens: 7, completion_tokens_details: { reasoning_tokens: 7 } },
    },
  ]);
});

test.each([true, false])(
  "estimates usage that an upstream does not report, and marks it as estimated (streamed: %s)",
  async (stream) => {
    const upstream = await startUpstream([{ text: "one two three four" }], { givesUsage: false });
    const model = await openModel(upstream.baseUrl);
    const { finish } = await readAnswer(forward(model, makeChatCall({ say: "eight ch", stream }), never()));
    expect(finish?.usage).toMatchObject({ promptTokens: 6, estimated: true });
    expect(finish?.usage.completionTokens).toBeGreaterThanOrEqual(4);
    expect(finish?.usage.completionTokens).toBeLessThanOrEqual(6);
  },
);

test.each([true, false])(
  "estimates a prompt from the complete forwarded body, including unknown fields (streamed: %s)",
  async (stream) => {
    const upstream = await startUpstream([{ text: "one" }], { givesUsage: false });
    const model = await openModel(upstream.baseUrl);
    const messages = [
      { role: "assistant", content: "Yes.", reasoning_content: "x".repeat(40_000) },
      { role: "user", content: "And?" },
    ];
    const { finish } = await readAnswer(forward(model, makeChatCall({ messages, stream }), never()));
    expect(finish?.usage.promptTokens).toBeGreaterThan(10_000);
  },
);

test("reuses a connection", async () => {
  const upstream = await startUpstream([{ text: "Hello" }]);
  const model = await openModel(upstream.baseUrl);
  for (let round = 0; round < 5; round += 1) await readAnswer(forward(model, makeChatCall(), never()));
  // A connection is free one turn of the event loop after its answer ended, so the next request may need a second one.
  expect(upstream.openSockets()).toBeLessThanOrEqual(2);
});

test("applies backpressure for a slow reader", async () => {
  const faulty = await startFaultyUpstream();
  cleanups.push(() => faulty.close());
  const model = await openModel(faulty.baseUrlFor("floods"));
  const events = forward(model, makeChatCall(), never())[Symbol.asyncIterator]();
  await events.next();
  const before = process.memoryUsage().rss;
  await expect.poll(() => faulty.isHeldBack()).toBe(true);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  await events.next();
  await events.return?.();
  await expect.poll(() => faulty.openSockets()).toBe(0);
});

test("connects through a proxy that asks for a password", async () => {
  const upstream = await startUpstream([{ text: "Hello" }]);
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    // Plain HTTP is forwarded, so the request line contains the complete URL.
    seen.push(`${request.headers["proxy-authorization"]}`);
    const target = new URL(request.url ?? "");
    const socket = connect(Number(target.port), target.hostname);
    const { "proxy-authorization": _, ...headers } = request.headers;
    const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${target.pathname} HTTP/1.1\r\n${lines.join("")}\r\n`);
    request.pipe(socket, { end: false });
    socket.pipe(response.socket as NonNullable<typeof response.socket>);
  });
  proxy.on("connect", (request, client, rest) => {
    seen.push(`${request.headers["proxy-authorization"]}`);
    const { hostname, port } = new URL(`http://${request.url}`);
    const socket = connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      socket.write(rest);
      socket.pipe(client);
      client.pipe(socket);
    });
    for (const each of [socket, client]) each.on("error", () => {});
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  cleanups.push(async () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  const model = await openModel(upstream.baseUrl, { proxy: `http://me:secret@127.0.0.1:${port}` });
  const { text } = await readAnswer(forward(model, makeChatCall(), never()));
  expect(text).toBe("Hello");
  expect(seen).toEqual([`Basic ${Buffer.from("me:secret").toString("base64")}`]);
});

test.each(["chat", "moderation", "speech", "transcription"] as const)("opens a model for %s", async (task) => {
  const settings = openAiCompatibleSettings.parse({ base_url: "http://127.0.0.1:1/v1", max_concurrency: 3 });
  const model = await openAiCompatibleEngine.open(settings, task, makeEngineServices());
  expect(model).toMatchObject({ task, slots: 3, device: "upstream" });
  await model.close();
});

test("names a TLS file that cannot be read", async () => {
  await expect(openModel("https://127.0.0.1:1/v1", { tls: { ca_file: "/no/such.pem" } })).rejects.toMatchObject({
    message: "tls.ca_file: /no/such.pem cannot be read (ENOENT).",
  });
});

test("does not time out a complete answer without [DONE] while its reader is slow", async () => {
  const server = createServer((_request, response) => {
    const choices = [{ index: 0, delta: { content: "All." }, finish_reason: "stop" }];
    const frame = `data: ${JSON.stringify({ id: "1", choices })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" }).end(frame);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => server.close());
  const { port } = server.address() as AddressInfo;
  const model = await openModel(`http://127.0.0.1:${port}/v1`, { idle_timeout_seconds: 0.1 });
  const types: string[] = [];
  for await (const { type } of forward(model, makeChatCall(), never())) {
    types.push(type);
    await new Promise((resume) => setTimeout(resume, 300));
  }
  expect(types).toEqual(["frames", "finish"]);
});
