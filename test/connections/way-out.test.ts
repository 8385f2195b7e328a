/** Errors whose first wording led elsewhere: each says what happened and the way out. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type InProcessService, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
mcp: { caller_servers: public }
mcp_servers: [{ name: dead, url: "http://127.0.0.1:1/mcp" }]
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true, abilities: { tools: true } }] }
`;

let service: InProcessService;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service?.stop());

async function send(method: "GET" | "POST", url: string, payload?: object, key = service.apiKey) {
  const headers = { authorization: `Bearer ${key}`, accept: "application/json, text/event-stream" };
  const answer = await service.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
  return { status: answer.statusCode, text: answer.body };
}

test("a slash at the end of a path has no meaning", async () => {
  expect((await send("POST", "/v1/conversations/", {})).status).toBe(200);
  expect((await send("GET", "/v1/models/?task=chat")).text).toContain("parrot");
  expect((await send("GET", "/v1/models/parrot/")).status).toBe(200);
});

test("an MCP server at a private address is the operator's to add", async () => {
  const tool = { type: "mcp", server_label: "near", server_url: "http://127.0.0.1:8999/mcp" };
  const { status, text } = await send("POST", "/v1/responses", { model: "parrot", input: "Hi", tools: [tool] });
  expect(status).toBe(502);
  expect(text).toContain("Its address is not public. An operator adds servers");
});

test("a listing of MCP servers that do not answer is an error, not an empty list", async () => {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const path of ["/mcp", "/mcp/dead"]) {
    expect((await send("POST", path, list)).text).toContain("The MCP server 'dead' did not list its tools.");
  }
});

test("an unknown permission is answered with where all are", async () => {
  const role = { role_name: "Reader", permissions: ["api.model.request"] };
  const { text } = await send("POST", "/v1/organization/roles", role, service.adminKey);
  expect(text).toContain("GET /v1/organization/roles");
  const roles = await send("GET", "/v1/organization/roles", undefined, service.adminKey);
  expect(roles.text).toMatch(/"name":"owner".*"permissions":\["/);
});

test("fields of a user that nobody stores are refused by what they are", async () => {
  const { body } = await service.inject({
    method: "POST",
    url: "/v1/organization/users/user_none",
    headers: { authorization: `Bearer ${service.adminKey}` },
    payload: { developer_persona: "data scientist" },
  });
  expect(body).toContain("'developer_persona': this service does not store it; leave it out");
});

test("an unknown path below operations that exist does not deny them", async () => {
  expect((await send("GET", "/v1/evals/eval_none/none")).text).not.toContain("does not have evals");
  expect((await send("GET", "/v1/threads")).text).toContain("does not have threads");
});
