/** Connections to servers that ask and report more than a client can answer. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { Agent } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openHttpTransport } from "./http-transport.ts";
import { McpConnection } from "./mcp-connection.ts";
import type { Peer } from "./peer.ts";

const TOOL = { name: "flood", inputSchema: { type: "object" as const } };
const never = new AbortController().signal;
const dispatcher = new Agent();
const server = createServer((request, response) => void answer(request, response));
let url: string;
let connections = 0;
/** Answers of the newest connection, of which none gets a response. Those of an earlier one may still arrive. */
let unanswered = 0;
let onAnswer = () => {};
let message: object;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dispatcher.destroy();
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method } = (await json(request)) as { id?: number; method?: string };
  if (method === undefined) {
    if (request.url === new URL(urlOf(connections)).pathname) unanswered += 1;
    onAnswer();
    return;
  }
  if (id === undefined) return void response.writeHead(202).end();
  if (method === "initialize") {
    const serverInfo = { name: "flooding", version: "1" };
    const result = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
    response.writeHead(200, { "content-type": "application/json" });
    return void response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
  if (method !== "tools/call") {
    response.writeHead(200, { "content-type": "application/json" });
    const error = { code: -32_601, message: "Method not found" };
    return void response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  let count = 0;
  const flood = setInterval(() => {
    count += 1;
    response.write(
      `data: ${JSON.stringify({ jsonrpc: "2.0", ...message, ...("id" in message && { id: `q${count}` }) })}\n\n`,
    );
  }, 5);
  response.once("close", () => clearInterval(flood));
}

const urlOf = (connection: number) => `${url}/${connection}`;

function open(peer?: Peer): McpConnection {
  connections += 1;
  unanswered = 0;
  const ownUrl = urlOf(connections);
  return new McpConnection({
    openTransport: (watch) => openHttpTransport({ url: ownUrl, headers: {}, dispatcher, maxBytes: 1e9 }, watch),
    connectTimeoutMs: 10_000,
    era: { kind: "legacy" },
    peer,
  });
}

test.each([
  ["a call that nobody can be asked in", undefined],
  ["a client that answers", { capabilities: { elicitation: {} }, ask: async () => ({ action: "decline" }) }],
  ["a client that never answers", { capabilities: { elicitation: {} }, ask: () => new Promise<never>(() => {}) }],
] satisfies [string, Peer | undefined][])("ends a connection whose server asks every 5 ms: %s", async (_name, peer) => {
  message = { id: 0, method: "elicitation/create", params: { message: "Which?", requestedSchema: { type: "object" } } };
  const connection = open(peer);
  const tooMany = new Promise<string>((resolve) => {
    onAnswer = () => unanswered > 100 && resolve(`${unanswered} answers without a response`);
  });
  const call = connection.callTool(TOOL as never, {}, never).catch((error: Error) => error);
  expect(await Promise.race([call, tooMany])).toMatchObject({ message: expect.stringMatching(/8 requests|asks for/) });
  expect(connection.hasFailed).toBe(true);
  expect(unanswered).toBeLessThanOrEqual(8);
  await connection.close();
});
