/** What tools of one response occupy in memory while it runs. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BodyMemory } from "../../http/body-memory.ts";
import { createLogger } from "../../kernel/logger.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import type { InputItem } from "../../wire/responses/responses-input.ts";
import { GuardedLists } from "../mcp/guarded-lists.ts";
import { McpServers } from "../mcp/mcp-servers.ts";
import { McpToolType } from "../mcp/mcp-tool.ts";
import { mcpSettings } from "../mcp/settings.ts";
import { type OpenTools, ServiceTools } from "./service-tools.ts";

const MEGABYTE = 1024 ** 2;
/** Bytes of a list, which takes kilobytes on its way. */
const LIST_BYTES = MEGABYTE;
const LONG = { description: "a".repeat(LIST_BYTES) };
const server = createServer((request, response) => void answer(request, response));
const servers = new McpServers({
  servers: [],
  settings: mcpSettings.parse({}),
  grants: () => {
    throw new Error("no server has accounts");
  },
  logger: createLogger("silent"),
  callerGuard: new OutgoingGuard({ reach: "private" }),
});
let origin: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await servers.close();
  server.closeAllConnections();
  server.close();
});

/** A server of 2025 with one tool, which it lists three times at `/repeated`; its description has megabytes but at `/small`. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method } = (await json(request)) as { id?: number; method: string };
  if (id === undefined) return void response.writeHead(202).end();
  const serverInfo = { name: "lists", version: "1" };
  const tool = { name: "read", inputSchema: { type: "object" }, ...(request.url !== "/small" && LONG) };
  const results: Record<string, object> = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo },
    "tools/list": { tools: request.url === "/repeated" ? [tool, { ...tool, title: "Again" }, tool] : [tool] },
  };
  const result = results[method];
  const answered = result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result };
  response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
  response.end(gzipSync(JSON.stringify({ jsonrpc: "2.0", id, ...answered })));
}

/** Opens the tools of `count` servers at one address, for a project. */
function open(tools: ServiceTools, projectId: string, path: string, count: number): Promise<OpenTools> {
  const labels = Array.from({ length: count }, (_, index) => `server${index}`);
  return openServers(tools, projectId, labels, path);
}

function openServers(
  tools: ServiceTools,
  projectId: string,
  labels: readonly string[],
  path: string,
  items: readonly InputItem[] = [],
): Promise<OpenTools> {
  const sent = labels.map((label) => ({ type: "mcp", server_label: label, server_url: `${origin}${path}` }));
  return tools.open({ tools: sent }, { tools: [], names: new Map() }, new Set(sent.keys()), {
    caller: { kind: "project", organizationId: "org", projectId, keyId: "key" },
    signal: new AbortController().signal,
    runTool: async () => {
      throw new Error("no tool is called");
    },
    guardsOf: () => undefined,
    items,
    include: [],
  });
}

function serviceTools(memory: BodyMemory): ServiceTools {
  const tools = new ServiceTools(() => [], memory);
  // Nothing is called, so that there is nothing to log.
  tools.register(new McpToolType(servers, {} as never, new GuardedLists()));
  return tools;
}

test("counts what servers of callers have listed until the response ends, at most half for a project", async () => {
  const memory = new BodyMemory(16 * MEGABYTE);
  const tools = serviceTools(memory);
  const small = await open(tools, "a", "/small", 32);
  expect(memory.heldBytes).toBe(0);
  const large = await open(tools, "a", "/large", 3);
  const held = memory.heldBytes;
  expect(held).toBeGreaterThan(2 * 3 * LIST_BYTES);
  await expect(open(tools, "a", "/large", 32)).rejects.toMatchObject({
    kind: "request-rate-limited",
    message: expect.stringContaining("Running requests of this project"),
  });
  // What it had read before its end is free again.
  expect(memory.heldBytes).toBe(held);
  const other = await open(tools, "b", "/large", 3);
  const refused = open(tools, "c", "/large", 32);
  await expect(refused).rejects.toMatchObject({ kind: "unavailable", code: "server_is_overloaded" });
  for (const each of [small, large, other]) await each.close();
  expect(memory.heldBytes).toBe(0);
});

test("a server that lists a name several times has the first of these tools, and holds nothing after the response", async () => {
  const memory = new BodyMemory(32 * MEGABYTE);
  const opened = await open(serviceTools(memory), "a", "/repeated", 1);
  expect([...opened.functions.keys()]).toEqual(["server0__read"]);
  const listed = opened.items.find((event) => event.type === "item-stop");
  expect(listed).toMatchObject({ item: { tools: [{ name: "read" }] } });
  expect(memory.heldBytes).toBeGreaterThan(0);
  await opened.close();
  expect(memory.heldBytes).toBe(0);
});

test("functions with equal names differ in the name that the model calls, in one list and in those of servers with one label", async () => {
  const tools = serviceTools(new BodyMemory(16 * MEGABYTE));
  const listed = { name: "read", input_schema: { type: "object" } };
  const items = [{ type: "mcp_list_tools", server_label: "crm", tools: [listed, listed, listed, listed] }];
  const namesOf = async (labels: readonly string[], given: readonly InputItem[] = []) => [
    ...(await openServers(tools, "a", labels, "/small", given)).functions.keys(),
  ];
  const ofItems = await namesOf(["crm"], items);
  expect(ofItems).toHaveLength(4);
  expect(ofItems[0]).toBe("crm__read");
  expect(await namesOf(["crm"], items)).toEqual(ofItems);
  // Whichever of the servers lists first gets the first name.
  expect((await namesOf(["crm", "crm", "crm", "crm"])).toSorted()).toEqual(ofItems.toSorted());
});
