/** People's accounts at an MCP server: connected in the browser, used at /mcp and in responses, never another's. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ProtectedMcpServer } from "../support/mcp/protected-mcp-server.ts";
import type { BrowserJar, Visit } from "../support/service/browser-jar.ts";
import { eventually } from "../support/service/eventually.ts";
import { type SignOnService, startSignOnService } from "../support/service/sign-on-service.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any;

const CONNECTION = "/v1/mcp_servers/wiki/connection";

let upstream: ProtectedMcpServer;
let idp: SignOnService;
let origin: string;
beforeAll(async () => {
  upstream = await ProtectedMcpServer.start();
  idp = await startSignOnService({
    models: `  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "/^/", text: "Done." }
          - { match: "who am I", tool_calls: [{ name: wiki__whoami, arguments: {} }] }
          - { text: "No tool." }`,
    config: `mcp_servers:
  - { name: wiki, url: "${upstream.url}", oauth: {} }
  - { name: plain, url: "${upstream.url}" }`,
  });
  origin = idp.service.origin;
  for (const name of ["alice", "bob", "carol"]) {
    idp.provider.people.set(name, { email: `${name}@example.com`, name, groups: ["research"] });
  }
  idp.provider.people.set("owner", { email: "owner@example.com", name: "Owner", groups: ["admins"] });
});
afterAll(async () => {
  await idp?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  upstream.requests.length = 0;
});

async function signIn(name: string): Promise<BrowserJar> {
  return (await idp.signIn(name)).browser;
}

async function send(browser: BrowserJar, method: string, path: string, body?: unknown): Promise<Any> {
  const response = await browser.fetch(`${origin}${path}`, {
    method,
    ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}

/** Connects the account of a name at the server, as the button of the console does. */
async function connect(browser: BrowserJar, account: string, query = ""): Promise<Visit> {
  upstream.account = account;
  const { authorization_url: url } = await send(browser, "POST", `${CONNECTION}${query}`);
  // Another person's session at the authorization server must not answer.
  return browser.open(url);
}

/** Client at /mcp or one of its servers, with the session of a browser or a key. */
async function clientOf(credentials: BrowserJar | string, path = "/mcp"): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const send: typeof fetch = async (input, init) => {
    const headers = Object.fromEntries(new Headers(init?.headers));
    if (typeof credentials !== "string") return credentials.fetch(String(input), { ...init, headers });
    return fetch(String(input), { ...init, headers: { ...headers, authorization: `Bearer ${credentials}` } });
  };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, origin), { fetch: send }));
  return client;
}

async function whoami(credentials: BrowserJar | string): Promise<string> {
  const client = await clientOf(credentials);
  const { content } = await client.callTool({ name: "wiki__whoami", arguments: {} });
  await client.close();
  return (content as { text: string }[])[0]?.text ?? "";
}

const toolsOf = async (credentials: BrowserJar | string) =>
  (await (await clientOf(credentials)).listTools()).tools.map(({ name }) => name).sort();

const respond = (browser: BrowserJar) =>
  send(browser, "POST", "/v1/responses", {
    model: "agent",
    input: "who am I",
    tools: [{ type: "mcp", server_label: "wiki", require_approval: "never" }],
  });

test("names the address where an account is connected to callers without one", async () => {
  const browser = await signIn("carol");
  const address = expect.stringMatching(/http:\/\/\S+#\/mcp\S*wiki/);
  expect(await send(browser, "GET", CONNECTION)).toMatchObject({ status: "disconnected", connected_at: null });
  expect(await respond(browser)).toMatchObject({
    status: 403,
    error: { code: "mcp_connection_required", message: address },
  });
  expect(await toolsOf(browser)).toEqual(["wiki__connect"]);
  const client = await clientOf(browser);
  expect(await client.callTool({ name: "wiki__connect", arguments: {} })).toMatchObject({
    content: [{ text: address }],
  });
  expect(await client.callTool({ name: "wiki__whoami", arguments: {} })).toMatchObject({
    isError: true,
    content: [{ text: address }],
  });
  await expect((await clientOf(browser, "/mcp/wiki")).listTools()).rejects.toThrow("#/mcp");
  expect((await client.listPrompts()).prompts).toEqual([]);
  expect(idp.service.log().filter(({ mcpServer }) => mcpServer === "wiki")).toEqual([]);
  expect(upstream.tokens).toEqual([]);
});

test("uses each person's account, at /mcp and in responses, and logs no token", async () => {
  const [alice, bob] = [await signIn("alice"), await signIn("bob")];
  expect(await connect(alice, "alice")).toMatchObject({
    status: 200,
    text: expect.stringMatching(new RegExp(`url=${origin}/#/mcp/wiki[^]*is connected`)),
  });
  await connect(bob, "bob");

  expect(await Promise.all([alice, bob, alice].map(whoami))).toEqual(["you are alice", "you are bob", "you are alice"]);
  expect(await toolsOf(alice)).toEqual(["wiki__administer", "wiki__only_alice", "wiki__whoami"]);
  expect(await toolsOf(bob)).toEqual(["wiki__administer", "wiki__only_bob", "wiki__whoami"]);
  const response = await respond(bob);
  const [list, call] = response.output;
  expect(list.tools.map(({ name }: Any) => name)).toContain("only_bob");
  expect(call).toMatchObject({ type: "mcp_call", output: "you are bob", error: null });
  const message = await send(alice, "POST", "/v1/messages", {
    model: "agent",
    max_tokens: 100,
    messages: [{ role: "user", content: "who am I" }],
    mcp_servers: [{ type: "url", name: "wiki" }],
    tools: [{ type: "mcp_toolset", mcp_server_name: "wiki" }],
  });
  expect(JSON.stringify(message.content)).toContain("you are alice");

  expect(await send(alice, "GET", CONNECTION)).toMatchObject({
    status: "connected",
    owner: { type: "user" },
    scopes: ["tools"],
    issuer: upstream.origin,
  });
  for (const token of new Set(upstream.tokens)) expect(idp.service.output()).not.toContain(token);
});

test("gives keys without a person the account of their project, which owners connect", async () => {
  const [member, owner] = [await signIn("carol"), await signIn("owner")];
  expect(await send(member, "POST", `${CONNECTION}?owner=project`)).toMatchObject({ status: 403 });
  await connect(owner, "robot", "?owner=project");

  upstream.requests.length = 0;
  expect(await whoami(idp.service.apiKey)).toBe("you are robot");
  expect(upstream.tokens.length).toBeGreaterThan(0);
  expect(JSON.stringify(upstream.requests)).not.toContain(idp.service.apiKey);
  expect(await toolsOf(member)).toEqual(["wiki__connect"]);
  expect(await send(owner, "GET", CONNECTION)).toMatchObject({ status: "disconnected" });
});

test("refuses an answer in another browser, and a refusal of the authorization server", async () => {
  const [victim, attacker] = [await signIn("carol"), await signIn("bob")];
  const before = await send(attacker, "GET", CONNECTION);
  upstream.account = "victim";
  const { authorization_url: url } = await send(attacker, "POST", CONNECTION);
  const page = await victim.open(url);
  expect(page).toMatchObject({ status: 400, text: expect.stringContaining("began in another browser") });
  expect(await send(attacker, "GET", CONNECTION)).toEqual(before);

  const denied = await connect(victim, "nobody");
  expect(denied).toMatchObject({ status: 403, text: expect.stringContaining("access_denied") });
  expect(await send(victim, "GET", CONNECTION)).toMatchObject({ status: "disconnected" });
});

test("asks for a connection again once the account is revoked, and for further permissions", async () => {
  const browser = await signIn("alice");
  await connect(browser, "alice");
  const client = await clientOf(browser);
  expect(await client.callTool({ name: "wiki__administer", arguments: {} })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("further permissions.") }],
  });
  await upstream.revokeGrantOf(upstream.tokens.at(-1) ?? "");
  const { output } = await respond(browser);
  const call = output.find(({ type }: Any) => type === "mcp_call");
  expect(call.error).toMatchObject({ type: "http_error", code: 401, message: expect.stringContaining("#/mcp") });
  expect(await send(browser, "GET", CONNECTION)).toMatchObject({ status: "expired" });

  await connect(browser, "alice");
  expect(await client.callTool({ name: "wiki__administer", arguments: {} })).toMatchObject({
    content: [{ text: "done" }],
  });
});

test("disconnects, erases and revokes with the person, and audits both ends of a connection", async () => {
  const browser = await signIn("alice");
  await connect(browser, "alice");
  expect(await send(browser, "DELETE", CONNECTION)).toMatchObject({ deleted: true, revoked: true });
  expect(await toolsOf(browser)).toEqual(["wiki__connect"]);
  await connect(browser, "alice");
  const { data } = await idp.admin("GET", "/users");
  const { id } = data.find(({ email }: Any) => email === "alice@example.com");
  const { data: events } = await idp.admin("GET", "/audit_logs?limit=100");
  const types = events.map(({ type }: Any) => type);
  expect(types).toContain("mcp_connection.created");
  expect(types).toContain("mcp_connection.deleted");

  const exported = await fetch(`${origin}/v1/organization/users/${id}/export`, {
    headers: { authorization: `Bearer ${idp.service.adminKey}` },
  });
  expect(await exported.text()).toContain("mcp_grants");
  const report = await idp.admin("POST", `/users/${id}/erase`, {});
  expect(JSON.stringify(report)).toContain('"mcp_grants":1');
  // A refresh token and an access token each, of the disconnected grant and the erased one.
  const revocations = () => upstream.requests.filter(({ path }) => path === "/token/revocation");
  await eventually(() => expect(revocations()).toHaveLength(4));
});

test("has no connection for servers without accounts, or that do not exist", async () => {
  const browser = await signIn("carol");
  for (const name of ["plain", "nothing"]) {
    expect(await send(browser, "GET", `/v1/mcp_servers/${name}/connection`)).toMatchObject({ status: 404 });
  }
  const described = await fetch(`${origin}/mcp-connections/wiki/client.json`);
  expect(await described.json()).toMatchObject({
    client_id: `${origin}/mcp-connections/wiki/client.json`,
    redirect_uris: [`${origin}/mcp-connections/wiki/callback`],
    token_endpoint_auth_method: "none",
  });
});
