/** `parlance config export` and `import`: what the API configured as a file, and back. */

import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { chatStatus, configurationClient } from "../support/service/configuration-client.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type OpenAiUpstream, startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const VARIABLE = "$" + "{FILE_KEY}";
const CONFIG = `builtin_models: false
connections:
  filed: { base_url: "http://127.0.0.1:9/v1", api_key: "${VARIABLE}" }
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;
const KEY = "key-of-the-upstream";

let upstream: OpenAiUpstream;
let service: ServiceProcess;
beforeAll(async () => {
  upstream = await startOpenAiUpstream(new ScriptedChat(scriptedSettings.parse({ replies: [{ text: "Polly" }] })));
  service = await startServiceProcess({ config: CONFIG, environment: { FILE_KEY: "key-of-the-file" } });
  const call = configurationClient(service);
  await call("POST", "/connections", { name: "gpu-1", base_url: upstream.baseUrl, api_key: KEY });
  const model = { id: "polly", task: "chat", aliases: ["p"], deployments: [{ connection: "gpu-1", model: "bird" }] };
  await call("POST", "/models", model);
  const headers = { authorization: KEY };
  await call("POST", "/mcp_servers", { name: "wiki", url: "http://127.0.0.1:9/mcp", headers });
  await call("POST", "/configuration/settings/limits.user", { value: { requests_per_day: 1000 } });
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
});

const run = (words: readonly string[], { dataDirectory, configFile, adminKey }: ServiceProcess, more = {}) =>
  runParlance(["config", ...words], {
    cwd: dataDirectory,
    environment: {
      PARLANCE_DATA_DIR: dataDirectory,
      PARLANCE_CONFIG: configFile,
      PARLANCE_ADMIN_KEY: adminKey,
      FILE_KEY: "key-of-the-file",
      ...more,
    },
  });

test("exports file and API as one file, with variables in place of keys, that `config check` accepts", async () => {
  const { code, stdout } = await run(["export"], service);
  expect(code).toBe(0);
  expect(stdout).toContain("# Set these variables: CONNECTION_GPU_1_API_KEY, MCP_SERVER_WIKI_HEADERS_AUTHORIZATION");
  expect(stdout).toContain(VARIABLE);
  expect(stdout).not.toContain(KEY);
  expect(stdout).not.toContain("key-of-the-file");
  const file = join(service.dataDirectory, "exported.yaml");
  await writeFile(file, stdout);
  const missing = await run(["check", file], service);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("CONNECTION_GPU_1_API_KEY") });
  const checked = await run(["check", file, "--json"], service, {
    CONNECTION_GPU_1_API_KEY: KEY,
    MCP_SERVER_WIKI_HEADERS_AUTHORIZATION: KEY,
  });
  expect(JSON.parse(checked.stdout).models).toMatchObject([{ id: "parrot" }, { id: "polly" }]);

  const versions = await configurationClient(service)("GET", "/configuration/versions?limit=1");
  const back = await run(["import", file], service);
  expect(back.stdout).toContain(`Version ${versions.body.data[0].version} is in force: 4 entries imported, 2 are set`);
  expect(await chatStatus(service, "p")).toEqual({ status: 200, text: "Polly" });
});

test("starts from an export with keys, and imports it into another service", async () => {
  const file = join(service.dataDirectory, "complete.yaml");
  expect(await run(["export", "--secrets", "--output", file], service)).toMatchObject({ code: 0, stderr: "" });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await run(["check", file], service)).toMatchObject({ code: 0 });
  const text = await readFile(file, "utf8");
  const copy = await startServiceProcess({ config: text, environment: { FILE_KEY: "key-of-the-file" } });
  const other = await startServiceProcess({ config: "builtin_models: false\n" });
  try {
    expect(await chatStatus(copy, "polly")).toEqual({ status: 200, text: "Polly" });
    expect(upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    const call = configurationClient(other);
    const old = { id: "old", task: "chat", deployments: [{ engine: "scripted", echo: true }] };
    await call("POST", "/models", old);
    const imported = await run(["import", file, "--replace", "--reason", "Moved"], other);
    expect(imported).toMatchObject({ code: 0, stderr: expect.stringContaining("builtin_models") });
    expect(await chatStatus(other, "polly")).toEqual({ status: 200, text: "Polly" });
    expect((await call("GET", "/models/old")).status).toBe(404);
    expect((await call("GET", "/mcp_servers/wiki")).body).toMatchObject({ source: "api", status: "in_force" });
    const { body } = await call("GET", "/configuration/versions?limit=1");
    expect(body.data).toMatchObject([{ action: "import", reason: "Moved", actor: { api_key_id: expect.any(String) } }]);
    expect((await call("GET", "/configuration/settings/limits.user")).body.value).toEqual({ requests_per_day: 1000 });
  } finally {
    await copy.stop();
    await other.stop();
  }
});
