/** Tests of addresses before they are connected, and servers that are found on this machine. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type ConfigurationClient, configurationClient } from "../support/service/configuration-client.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type Service, startService } from "../support/service/service.ts";
import { KNOWN_SERVERS, startKnownServer } from "../support/upstreams/known-servers.ts";

const CONFIG = `builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true, context_window: 2048 }] }
`;

let service: Service;
let call: ConfigurationClient;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  call = configurationClient(service);
});
afterAll(() => service.stop());

test.each(["vllm", "llama-server", "ollama", "lm-studio", "litellm", "anthropic", "openai-compatible"])(
  "recognizes %s, with its models and a first token",
  async (kind) => {
    await using server = await startKnownServer(KNOWN_SERVERS[kind] ?? {});
    const model = kind === "anthropic" ? "claude-x" : undefined;
    const { status, body } = await call("POST", "/connections/test", { base_url: server.origin, model });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true, problem: null, server: { kind, base_url: `${server.origin}/v1` } });
    expect(body.server.models).not.toEqual([]);
    const isMeasured = kind !== "litellm" && kind !== "openai-compatible";
    expect(body.first_token).toEqual(
      isMeasured ? { model: body.server.models[0].id, milliseconds: expect.any(Number), problem: null } : null,
    );
  },
);

test.each([
  ["vllm", { version: "0.11.0", context_window: 40_960, abilities: {} }],
  ["llama-server", { version: "b6000-abc", context_window: 8192, abilities: { vision: true } }],
  ["ollama", { version: "0.12.3", context_window: 40_960, abilities: { tools: true, vision: false, reasoning: true } }],
  ["lm-studio", { version: null, context_window: 4096, abilities: { tools: true, vision: true } }],
])("reads the context and abilities that %s reports", async (kind, { version, ...facts }) => {
  await using server = await startKnownServer(KNOWN_SERVERS[kind] ?? {});
  const { body } = await call("POST", "/connections/test", { base_url: `${server.origin}/v1/` });
  expect(body.server.version).toBe(version);
  expect(body.server.models[0]).toMatchObject(facts);
});

test("recognizes another Parlance, a refused key and an address at which nothing answers", async () => {
  const base = { base_url: service.origin, api_key: service.apiKey };
  expect((await call("POST", "/connections/test", base)).body).toMatchObject({
    ok: true,
    server: { kind: "parlance", models: [{ id: "parrot", task: "chat", context_window: 2048 }] },
    first_token: { model: "parrot", milliseconds: expect.any(Number) },
  });
  const refused = await call("POST", "/connections/test", { ...base, api_key: "sk-wrong" });
  expect(refused.body).toMatchObject({
    ok: false,
    problem: "The server refuses the API key.",
    server: { kind: "parlance", accepted: false },
  });
  const silent = await call("POST", "/connections/test", { base_url: "http://127.0.0.1:9/v1" });
  expect(silent.body).toMatchObject({ ok: false, server: null, problem: expect.stringContaining("Nothing answers") });
});

test("sends the key of a stored connection, and none elsewhere", async () => {
  await using server = await startKnownServer(KNOWN_SERVERS.vllm ?? {}, { key: "stored-key" });
  const stored = { name: "stored", base_url: `${server.origin}/v1`, api_key: "stored-key" };
  expect((await call("POST", "/connections", stored)).status).toBe(200);
  expect((await call("POST", "/connections/test", { connection: "stored" })).body).toMatchObject({ ok: true });
  expect((await call("POST", "/connections/test", { connection: "none" })).status).toBe(404);
  const { body } = await call("POST", "/connections/test", { base_url: server.origin });
  expect(body).toMatchObject({ ok: false, problem: "The server refuses the API key." });
});

test.each([
  "http://169.254.169.254/latest",
  "http://[fe80::1]/v1",
  "http://100.100.100.200",
  "http://168.63.129.16/v1",
])("refuses the address %s", async (base_url) => {
  const { status, body } = await call("POST", "/connections/test", { base_url });
  expect(status).toBe(400);
  expect(body.error.code).toBe("address_refused");
});

test("follows no redirect to another address", async () => {
  const location = "http://169.254.169.254/latest";
  const redirect = { status: 302, headers: { location }, body: {} };
  await using server = await startKnownServer({ "GET /v1/models": redirect, "GET /models": redirect });
  const { body } = await call("POST", "/connections/test", { base_url: server.origin });
  expect(body).toMatchObject({ ok: false, problem: expect.stringContaining("302") });
});

test("finds servers on this machine with `parlance discover`, as settings that are valid", async () => {
  await using server = await startKnownServer(KNOWN_SERVERS.ollama ?? {});
  const port = ["--port", String(server.port)];
  const cwd = service.dataDirectory;
  const table = await runParlance(["discover", ...port], { cwd });
  expect(table.stdout).toMatch(
    new RegExp(`127\\.0\\.0\\.1:${server.port}/v1 +ollama +0\\.12\\.3 +qwen3:8b, all-minilm`),
  );
  const yaml = await runParlance(["discover", "--yaml", ...port], { cwd });
  const settings = parse(yaml.stdout);
  expect(settings.connections[`ollama-${server.port}`]).toEqual({ base_url: `${server.origin}/v1` });
  expect(settings.models).toContainEqual({
    id: "qwen3:8b",
    task: "chat",
    deployments: [{ connection: `ollama-${server.port}`, context_window: 40_960 }],
  });
  expect((await call("POST", "/connections/discover")).status).toBe(200);
});
