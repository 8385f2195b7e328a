/** APIs with an OpenAPI document as MCP servers: in responses, chats' clients and at /mcp, with OpenAI's and MCP's clients. */

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PET_STORE, type PetStore, startPetStore } from "../support/mcp/pet-store.ts";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const SECRET = "operator-secret-1234567890";

let store: PetStore;
let service: InProcessService;
let proxied: InProcessService;
let folder: string;
beforeAll(async () => {
  store = await startPetStore();
  folder = await mkdtemp(join(tmpdir(), "parlance-openapi-"));
  await writeFile(join(folder, "swagger.yaml"), "swagger: '2.0'\n");
  await promisify(execFile)("mkfifo", [join(folder, "pipe.yaml")]);
  await writeFile(join(folder, "foreign.yaml"), PET_STORE.replace('"/{stage}/v1"', "/v1"));
  await writeFile(
    join(folder, "deep.json"),
    `{"openapi":"3.1.0","paths":${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}}`,
  );
  await writeFile(join(folder, "aliases.yaml"), aliases());
  await writeFile(join(folder, "climbing.json"), climbing());
  await writeFile(join(folder, "secrets.yaml"), `api_key: ${SECRET}\n- [`);
  await writeFile(join(folder, "secrets.json"), `{"api_key": ${SECRET}}`);
  await writeFile(join(folder, "repeated.json"), repeated());
  await writeFile(join(folder, "odd.json"), ODD);
  await writeFile(join(folder, "large.json"), large());
  const moved = PET_STORE.replace('"/{stage}/v1"', '"http://127.0.0.1:9/"');
  await writeFile(join(folder, "moved.yaml"), moved);
  const document = `${store.origin}/openapi.yaml`;
  const chat = `
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "no such pet", text: "It is gone." }
          - { match_tool: "GET", text: "Found." }
          - { match: gone, tool_calls: [{ name: pets__getPet, arguments: { id: 404 } }] }
          - { match: find, tool_calls: [{ name: pets__getPet, arguments: { id: 7 } }] }`;
  service = await startService({
    config: `
mcp_servers:
  - name: pets
    openapi: "${document}"
    headers: { authorization: "Bearer ${SECRET}" }
    timeout_seconds: 5
    price_per_call: "0.5"
  - { name: few, openapi: "${document}", access: [{ tools: [getPet] }] }
  - { name: keyed, openapi: "${document}", url: "${store.origin}/api/v1?api_key=query-secret-1234" }
  - { name: away, openapi: "http://127.0.0.1:9/openapi.json" }
  - { name: swagger, openapi: "${join(folder, "swagger.yaml")}" }
  - { name: pipe, openapi: "${join(folder, "pipe.yaml")}" }
  - { name: foreign, openapi: "${join(folder, "foreign.yaml")}" }
  - { name: absent, openapi: "${join(folder, "absent.yaml")}" }
  - { name: deep, openapi: "${join(folder, "deep.json")}" }
  - { name: aliases, openapi: "${join(folder, "aliases.yaml")}" }
  - { name: no-yaml, openapi: "${join(folder, "secrets.yaml")}" }
  - { name: no-json, openapi: "${join(folder, "secrets.json")}" }
  - { name: climbing, openapi: "${join(folder, "climbing.json")}", url: "${store.origin}/api/v1" }
  - { name: repeated, openapi: "${join(folder, "repeated.json")}", url: "${store.origin}/api/v1" }
  - { name: odd, openapi: "${join(folder, "odd.json")}", url: "${store.origin}/api/v1" }
  - { name: large, openapi: "${join(folder, "large.json")}", url: "${store.origin}/api/v1" }
  - { name: moved, openapi: "${join(folder, "moved.yaml")}" }
mcp_toolsets: [{ name: vets, servers: [{ server: pets, tools: [getPet] }] }]
models:${chat}
`,
  });
  const upstream = `[{ engine: openai-compatible, base_url: "${service.origin}/v1", api_key: ${service.apiKey}, model: agent }]`;
  proxied = await startService({
    config: `
mcp_servers:
  - { name: pets, openapi: "${document}", headers: { authorization: "Bearer ${SECRET}" } }
  - { name: parlance-api, openapi: "${service.origin}/openapi.json", headers: { authorization: "Bearer ${service.apiKey}" } }
models: [{ id: agent, task: chat, deployments: ${upstream} }]
`,
  });
});
afterAll(async () => {
  await proxied?.stop();
  await service?.stop();
  await store?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Each line refers nine times to the one before it. */
function aliases(): string {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let index = 1; index < 12; index += 1) {
    lines.push(
      `a${index}: &a${index} [${Array(9)
        .fill(`*a${index - 1}`)
        .join(", ")}]`,
    );
  }
  return `openapi: 3.1.0\n${lines.join("\n")}\n`;
}

/** Paths that lead out of the API, in the ways that the parser of URLs takes. */
const CLIMBS = ["/../admin", "/%2e%2e/admin", "/.%2E/admin", "/..\\admin\\users", "/.\t./admin", "/a/../../../admin"];

function climbing(): string {
  const paths = CLIMBS.map((path, index) => [path, { get: { operationId: `climb${index}` } }]);
  return JSON.stringify({ openapi: "3.1.0", info: {}, paths: Object.fromEntries(paths) });
}

/** Operations that refer to the same long name. */
function repeated(): string {
  const paths = Array.from({ length: 900 }, (_, index) => [`/${index}`, { get: { parameters: [{ $ref: "#/long" }] } }]);
  const long = { name: "n".repeat(20_000), in: "query" };
  return JSON.stringify({ openapi: "3.1.0", info: {}, paths: Object.fromEntries(paths), long });
}

/** Operations that share a large schema. */
function large(): string {
  const requestBody = { content: { "application/json": { schema: { $ref: "#/shared" } } } };
  const paths = Array.from({ length: 270 }, (_, index) => [
    `/${index}`,
    { post: { operationId: `post${index}`, requestBody } },
  ]);
  const properties = Array.from({ length: 900 }, (_, index) => [`p${index}`, { type: "string" }]);
  const shared = { type: "object", properties: Object.fromEntries(properties) };
  return JSON.stringify({ openapi: "3.1.0", info: {}, paths: Object.fromEntries(paths), shared });
}

const ODD = JSON.stringify({
  openapi: "3.1.0",
  info: {},
  paths: {
    "/races/{id}": {
      get: { operationId: "races", parameters: ["path id", "query constructor", "header toString"].map(parameterOf) },
      post: { operationId: "toForm", parameters: [parameterOf("path id")], requestBody: bodyOf("multipart/form-data") },
      put: {
        ...{ operationId: "toQuery", parameters: [parameterOf("path id")] },
        requestBody: bodyOf("application/x-www-form-urlencoded"),
      },
    },
    "/same/{id}/{id}": { get: { operationId: "same", parameters: [parameterOf("path id")] } },
    [`/${"x".repeat(3_000)}`]: { get: { operationId: "long" } },
  },
});

function parameterOf(text: string) {
  const [place, name] = text.split(" ");
  return { in: place, name, schema: {} };
}

function bodyOf(mediaType: string) {
  return { content: { [mediaType]: { schema: {} } } };
}

const call = async (server: string, name: string, input: object = {}) => {
  const response = await service.inject({
    method: "POST",
    url: `/v1/mcp_servers/${server}/calls`,
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: { name, arguments: input },
  });
  return { status: response.statusCode, text: response.body, body: response.json() };
};

/** What the API got, as it repeats it. */
const sent = async (name: string, input: object, server = "pets") => {
  const { body } = await call(server, name, input);
  return JSON.parse(body.content[0].text);
};

async function connect(path: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const headers = { authorization: `Bearer ${service.apiKey}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, service.origin), { requestInit: { headers } }));
  return client;
}

test("makes a tool of each operation that can be called, with a schema without references", async () => {
  const client = await connect("/mcp/pets");
  const { tools } = await client.listTools();
  await client.close();
  expect(tools.map(({ name }) => name)).toEqual([
    ...["list_pets", "addPet", "getPet", "removePet", "getPhoto", "addPhoto", "echo", "login"],
    ...["redirect", "large", "slow", "size", "getFile"],
  ]);
  const named = (name: string) => tools.find((each) => each.name === name);
  expect(Object.keys(named("list_pets")?.inputSchema.properties ?? {})).toEqual(["X-Trace", "tags", "ids", "filter"]);
  expect(named("list_pets")).toMatchObject({ title: "Lists pets", annotations: { readOnlyHint: true } });
  expect(named("getPet")?.inputSchema).toEqual({
    type: "object",
    properties: { id: { type: "integer", exclusiveMinimum: 0 } },
    required: ["id"],
    additionalProperties: false,
  });
  expect(named("addPet")?.inputSchema).toMatchObject({
    properties: {
      body: { properties: { name: { type: ["string", "null"] }, parent: {}, foreign: {} }, required: ["name"] },
    },
    required: ["body"],
  });
  expect(named("removePet")).toMatchObject({ description: "Deprecated.", annotations: { destructiveHint: true } });
  expect(JSON.stringify(tools)).not.toContain("$ref");
});

test("sends arguments where the document wants them, with the operator's key", async () => {
  expect(await sent("getPet", { id: "a/b c?d" })).toMatchObject({
    ...{ method: "GET", url: "/api/v1/pets/a%2Fb%20c%3Fd", authorization: "[redacted]" },
  });
  expect(store.requests.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
  const list = { tags: ["a", "b&c"], ids: [1, 2], filter: { status: "new" }, "X-Trace": "t1" };
  expect(await sent("list_pets", list)).toMatchObject({
    url: "/api/v1/pets?tags=a&tags=b%26c&ids=1%2C2&filter%5Bstatus%5D=new",
    trace: "t1",
  });
  expect(await sent("size", {})).toMatchObject({ url: "/api/v1/gr%C3%B6%C3%9Fe" });
  expect(await sent("getFile", { base: "a.", suffix: ".b" })).toMatchObject({ url: "/api/v1/files/a..b" });
  expect(await sent("addPet", { body: { name: "Rex" } })).toMatchObject({ method: "POST", body: '{"name":"Rex"}' });
  expect(await sent("login", { body: { user: "a b", scope: ["x", "y"] } })).toMatchObject({
    body: "user=a+b&scope=x&scope=y",
  });
  const photo = await sent("addPhoto", { body: { pet: 7, photo: Buffer.from("picture").toString("base64") } });
  expect(photo.body).toContain('name="pet"\r\n\r\n7\r\n');
  expect(photo.body).toContain('name="photo"; filename="photo"');
  expect(photo.body).toContain("\r\n\r\npicture\r\n");
});

test.each([
  ["getPet", { id: ".." }],
  ["getPet", { id: "a/../../admin" }],
  ["getPet", { id: "..\\admin" }],
  ["getPet", { id: "" }],
  ["getFile", { base: ".", suffix: "." }],
  ["getPet", { id: "a\u0000" }],
  ["getPet", { id: "\ud800" }],
  ["getPet", {}],
  ["getPet", { id: 1, other: 2 }],
  ["list_pets", { "X-Trace": "a\r\nx-admin: 1" }],
  ["login", { body: "user=admin" }],
])("sends nothing for %s with %j", async (name, input) => {
  const before = store.requests.length;
  const { body } = await call("pets", name, input);
  expect(body.is_error).toBe(true);
  expect(store.requests.slice(before).filter(({ url }) => !url.includes("openapi"))).toEqual([]);
});

test.each(CLIMBS.entries().toArray())("sends nothing for the path %i of a document, %j", async (index) => {
  const before = store.requests.length;
  const { body } = await call("climbing", `climb${index}`);
  expect(body).toMatchObject({ is_error: true, content: [{ text: expect.stringContaining("another place") }] });
  expect(store.requests.slice(before)).toEqual([]);
});

test("sends only arguments that are given, whatever their names", async () => {
  const { url } = await sent("races", { id: 1 }, "odd");
  expect(url).toBe("/api/v1/races/1");
  expect(store.requests.at(-1)?.headers.tostring).toBeUndefined();
  expect(await sent("races", { id: 1, constructor: "lotus" }, "odd")).toMatchObject({
    url: "/api/v1/races/1?constructor=lotus",
  });
});

test.each([
  ["races", { id: "/".repeat(20_000) }, "'id' has more than 16384 characters"],
  ["races", { id: 1, constructor: Array(10_000).fill(1) }, "'constructor' has more than 16384 characters"],
  ["toForm", { id: 1, body: { a: Array(2_000).fill(1) } }, "more than 1000 fields"],
  ["toQuery", { id: 1, body: { a: "é".repeat(300_000) } }, "more than 262144 characters"],
])("refuses arguments of %s that take the service's time to encode", async (name, input, message) => {
  const before = store.requests.length;
  const { body } = await call("odd", name, input);
  expect(body).toMatchObject({ is_error: true, content: [{ text: expect.stringContaining(message) }] });
  expect(store.requests.slice(before)).toEqual([]);
});

test("leaves out paths that are long, or repeat what is given once", async () => {
  const client = await connect("/mcp/odd");
  const { tools } = await client.listTools();
  await client.close();
  expect(tools.map(({ name }) => name)).toEqual(["races", "toQuery", "toForm"]);
});

/** Retries until the server has listed its tools. */
async function listed<List>(list: () => Promise<List>): Promise<List> {
  let result: List | undefined;
  await eventually(async () => {
    result = await list();
  });
  return result as List;
}

test("lists megabytes of tools, and lets others go on meanwhile", async () => {
  const client = await connect("/mcp/large");
  // A busy machine needs more than the five seconds for which a client waits; the list is read on meanwhile.
  const { tools } = await listed(() => client.listTools());
  await client.close();
  expect(tools.map(({ name }) => name)).toEqual(Array.from({ length: 270 }, (_, index) => `post${index}`));
  expect(Object.keys(tools[269]?.inputSchema.properties?.body ?? {})).toEqual(["type", "properties"]);
});

test("never lets an argument replace the operator's key in the query, and hides it", async () => {
  const { body, text } = await call("keyed", "list_pets", { ids: [1] });
  expect(JSON.parse(body.content[0].text).url).toBe("/api/v1/pets?api_key=[redacted]&ids=1");
  expect(text).not.toContain("query-secret");
  expect(store.requests.at(-1)?.url).toContain("api_key=query-secret-1234");
});

test("returns failures, redirects, pictures and answers that are too large as what they are", async () => {
  const gone = await call("pets", "getPet", { id: 404 });
  expect(gone.body).toMatchObject({ is_error: true });
  expect(gone.text).toContain("status 404");
  expect(gone.text).toContain("There is no such pet.");
  const redirected = await call("pets", "redirect");
  expect(redirected.text).toContain("Redirects are not followed.");
  expect(redirected.text).not.toContain("127.0.0.1");
  expect((await call("pets", "getPhoto")).body.content).toMatchObject([{ type: "image", mimeType: "image/png" }]);
  expect((await call("pets", "large")).text).toContain("more than 1048576 bytes, the limit");
});

test("ends the request to the API when the client of a call leaves", async () => {
  const client = await connect("/mcp/pets");
  const leave = new AbortController();
  const calling = client.callTool({ name: "slow", arguments: {} }, { signal: leave.signal }).catch(() => {});
  await eventually(async () => expect(store.requests.at(-1)?.url).toBe("/api/v1/slow"));
  leave.abort();
  await calling;
  await client.close();
  await eventually(async () => expect(store.aborted).toBe(1));
});

test("offers within access and toolsets only", async () => {
  const names = async (path: string) => {
    const client = await connect(path);
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name);
  };
  expect(await names("/mcp/few")).toEqual(["getPet"]);
  expect(await names("/mcp/vets")).toEqual(["pets__getPet"]);
  expect((await call("few", "removePet", { id: 1 })).status).toBe(404);
});

test("says what is wrong with a document, and not where it is", async () => {
  const { body, text } = await service
    .inject({
      method: "GET",
      url: "/v1/mcp_servers?limit=100",
      headers: { authorization: `Bearer ${service.apiKey}` },
    })
    .then((response) => ({ body: response.json(), text: response.body }));
  const problems = Object.fromEntries(
    body.data.map((each: { id: string; problem: string }) => [each.id, each.problem]),
  );
  expect(problems).toMatchObject({
    pets: null,
    away: "The server could not be reached.",
    pipe: "Its document cannot be used: its path is not that of a file.",
    swagger: "Its document cannot be used: it is Swagger 2.0; convert it to OpenAPI 3.0 or 3.1.",
    foreign: "Its document cannot be used: it names no address of the API: set `url`.",
    absent: "Its document cannot be read from the file (ENOENT).",
    moved: null,
    "no-yaml": "Its document cannot be used: it is not valid YAML.",
    "no-json": "Its document cannot be used: it is not valid JSON.",
    repeated: "Its document cannot be used: its operations have more than 8388608 characters, the limit.",
  });
  expect(problems.deep).not.toBeUndefined();
  expect(problems.aliases).toContain("Its document cannot be used");
  expect(body.data[0]).toMatchObject({
    transport: "openapi",
    protocol_version: null,
    software: { name: "Pet store", version: "1.0.0" },
  });
  expect(text).not.toContain(folder);
  expect(text).not.toContain("127.0.0.1");
});

test("sends the operator's key to no other address that a document names", async () => {
  store.document = PET_STORE.replace('"/{stage}/v1"', '"http://127.0.0.1:9/"');
  const other = await startService({
    config: `mcp_servers: [{ name: pets, openapi: "${store.origin}/openapi.yaml", headers: { authorization: "Bearer ${SECRET}" } }]\n`,
  });
  try {
    const response = await other.inject({
      method: "GET",
      url: "/v1/mcp_servers",
      headers: { authorization: `Bearer ${other.apiKey}` },
    });
    expect(response.json().data[0].problem).toContain("set `url`");
  } finally {
    store.document = PET_STORE;
    await other.stop();
  }
});

test.each([
  ["local", () => service],
  ["upstream", () => proxied],
])("runs calls of a %s model in responses, streamed and not", async (_which, get) => {
  const { origin, apiKey } = get();
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey });
  const tools = [
    { type: "mcp" as const, server_label: "pets", require_approval: "never" as const, allowed_tools: ["getPet"] },
  ];
  const response = await client.responses.create({ model: "agent", input: "find 7", tools });
  expect(response.output_text).toBe("Found.");
  expect(response.output.find(({ type }) => type === "mcp_list_tools")).toMatchObject({ tools: [{ name: "getPet" }] });
  expect(response.output.find(({ type }) => type === "mcp_call")).toMatchObject({ name: "getPet", error: null });
  const stream = await client.responses.create({ model: "agent", input: "gone", tools, stream: true });
  let text = "";
  let failures = 0;
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.mcp_call.failed") failures += 1;
  }
  expect([text, failures]).toEqual(["It is gone.", 1]);
});

test("calls a service by its own document", async () => {
  const answer = async (name: string, input: object) => {
    const response = await proxied.inject({
      method: "POST",
      url: "/v1/mcp_servers/parlance-api/calls",
      headers: { authorization: `Bearer ${proxied.apiKey}` },
      body: { name, arguments: input },
    });
    return response.json();
  };
  await eventually(async () => {
    const tools = await proxied.inject({
      method: "GET",
      url: "/v1/mcp_servers/parlance-api/tools?limit=100",
      headers: { authorization: `Bearer ${proxied.apiKey}` },
    });
    expect(tools.json().data.length).toBe(100);
  });
  expect((await answer("postModerations", {})).is_error).toBe(true);
  const { text } = (await answer("getModels", {})).content[0];
  expect(text).toContain('"agent"');
});
