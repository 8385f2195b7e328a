/** Lists of what MCP servers offer count as requests where guardrails apply, which may ask models about them. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const LIMIT = 20;
const METHODS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

let mcp: TestMcpServer;
let guarded: InProcessService;
let unguarded: InProcessService;
beforeAll(async () => {
  mcp = await startMcpServer("stateless");
  const config = `
builtin_models: false
limits: { organization: { requests_per_minute: ${LIMIT} } }
mcp_servers: [{ name: crm, url: "${mcp.url}" }]
models: [{ id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }]
`;
  unguarded = await startService({ config });
  guarded = await startService({ config: `${config}guardrails: [{ type: pii, action: mask, on: [output] }]` });
});
afterAll(async () => {
  await Promise.all([guarded?.stop(), unguarded?.stop(), mcp?.close()]);
});

const list = (service: InProcessService) => service.fetch("/v1/mcp_servers/crm/tools");
const ask = (service: InProcessService, path: string, method: string) => {
  const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} });
  return service.fetch(path, { method: "POST", headers, body });
};
const remainingOf = (response: Response) => Number(response.headers.get("x-ratelimit-remaining-requests"));

test("a list counts each time, also at /mcp, and none is read over the limit", async () => {
  const first = await list(guarded);
  expect([first.status, remainingOf(first)]).toEqual([200, LIMIT - 1]);
  for (const path of ["/mcp", "/mcp/crm"]) {
    for (const method of METHODS) expect((await ask(guarded, path, method)).status).toBe(200);
  }
  expect(remainingOf(await list(guarded))).toBe(LIMIT - 1 - 2 * METHODS.length - 1);
  for (let used = 2 + 2 * METHODS.length; used < LIMIT; used += 1) await list(guarded);
  expect((await list(guarded)).status).toBe(429);
  expect((await ask(guarded, "/mcp", "tools/list")).status).toBe(429);
  // Nothing of its texts is checked.
  expect((await guarded.fetch("/v1/mcp_servers")).status).toBe(200);
});

test("without guardrails, lists do not count", async () => {
  const first = await list(unguarded);
  expect([first.status, first.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, null]);
  for (const method of METHODS) expect((await ask(unguarded, "/mcp", method)).status).toBe(200);
  const counted = await unguarded.post("/v1/chat/completions", {
    model: "parrot",
    messages: [{ role: "user", content: "Hm." }],
  });
  expect(remainingOf(counted)).toBe(LIMIT - 1);
});
