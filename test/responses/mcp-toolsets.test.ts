/** Toolsets at /mcp/{toolset} with the SDK's client: selections over several servers, within what the servers allow. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startMcpServer, type TestMcpServer } from "../support/mcp/mcp-server.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

let upstreams: TestMcpServer[];
let service: InProcessService;
let serversText: string;
const open: Client[] = [];
beforeAll(async () => {
  upstreams = await Promise.all([startMcpServer("sessions"), startMcpServer("stateless")]);
  const [first, second] = upstreams.map(({ url }) => url);
  serversText = `
mcp_servers:
  - { name: crm, url: "${first}", access: [{ tools: [add, contact], prompts: [greet], resources: ["*"] }] }
  - { name: mail, url: "${second}", price_per_call: "0.25" }
  - { name: secret, url: "${second}", access: [{ projects: [proj_of_others] }] }`;
  service = await startService({
    config: `${serversText}
mcp_toolsets:
  - name: support
    description: Use it for questions of customers.
    servers:
      - { server: crm, tools: [add, echo] }
      - { server: mail, tools: [echo], prompts: [greet] }
      - { server: secret }
  - { name: reading, servers: [{ server: crm }] }
  - { name: theirs, projects: [proj_of_others], servers: [{ server: mail }] }
  - { name: hidden, servers: [{ server: secret }] }
`,
  });
});
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await Promise.all([service?.stop(), ...(upstreams ?? []).map((each) => each.close())]);
});

async function connect(path: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const headers = { authorization: `Bearer ${service.apiKey}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, service.origin), { requestInit: { headers } }));
  open.push(client);
  return client;
}

const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).sort();

test("offers what it selects of several servers, and nothing that a server's access denies", async () => {
  const client = await connect("/mcp/support");
  expect(client.getInstructions()).toBe("Use it for questions of customers.");
  expect(names((await client.listTools()).tools)).toEqual(["crm__add", "mail__echo"]);
  expect(names((await client.listPrompts()).prompts)).toEqual(["mail__greet"]);
  expect((await client.listResources()).resources).toEqual([]);
  const { content } = await client.callTool({ name: "crm__add", arguments: { a: 1, b: 2 } });
  expect(content).toEqual([{ type: "text", text: "sum 3" }]);
  const echoed = await client.callTool({ name: "mail__echo", arguments: { text: "Hi" } });
  expect(echoed.content).toEqual([{ type: "text", text: "Hi" }]);
});

test.each(["crm__echo", "crm__contact", "mail__add", "secret__add", "add", "support__add"])(
  "has no tool %s",
  async (name) => {
    const [client] = open;
    await expect(client?.callTool({ name, arguments: {} })).rejects.toThrow("Unknown tool");
  },
);

test("has the prompts and resources of a server that it selects without tools", async () => {
  const client = await connect("/mcp/reading");
  expect(names((await client.listTools()).tools)).toEqual(["crm__add", "crm__contact"]);
  expect(names((await client.listPrompts()).prompts)).toEqual(["crm__greet"]);
  const [resource] = (await client.listResources()).resources;
  expect(resource?.uri).toMatch(/^mcp\+crm\+/);
  const { contents } = await client.readResource({ uri: String(resource?.uri) });
  expect(contents[0]?.uri).toBe(resource?.uri);
  const foreign = String(resource?.uri).replace("mcp+crm+", "mcp+mail+");
  await expect(client.readResource({ uri: foreign })).rejects.toThrow("Unknown resource");
});

test.each(["theirs", "hidden", "nothing", "SUPPORT"])(
  "is not there for a project that may not use it: %s",
  async (name) => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const answer = await service.post(`/mcp/${name}`, message);
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      "mcp_server_not_found",
    ]);
  },
);

test("counts, logs and bills its calls as those of the servers", async () => {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const read = async () => {
    const answer = await service.fetch("/v1/organization/mcp_calls", { headers });
    return ((await answer.json()) as { data: Record<string, unknown>[] }).data;
  };
  await expect.poll(async () => (await read()).length).toBeGreaterThanOrEqual(2);
  const calls = await read();
  expect(calls.find(({ server }) => server === "mail")).toMatchObject({ tool: "echo", cost_usd: 0.25 });
  expect(calls.find(({ tool }) => tool === "add")).toMatchObject({ server: "crm", cost_usd: null });
});

test("names a toolset that cannot work", async () => {
  for (const [toolset, message] of [
    ["{ name: Mail, servers: [{ server: crm }] }", "is the name of a server"],
    ["{ name: other, servers: [{ server: nowhere }] }", "no server of mcp_servers"],
    ["{ name: parlance, servers: [{ server: crm }] }", "must not be `parlance`"],
    ["{ name: twice, servers: [{ server: crm }, { server: crm }] }", "is in another entry"],
  ] as const) {
    await expect(startService({ config: `${serversText}\nmcp_toolsets: [${toolset}]\n` })).rejects.toThrow(message);
  }
});
