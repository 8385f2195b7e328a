/** Models, connections and settings that administrators change while the service runs, on both databases. */

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { startWebhookReceiver, WEBHOOK_SECRET } from "../support/observability/webhook-receiver.ts";
import { type ConfigurationClient, chatStatus, configurationClient } from "../support/service/configuration-client.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type OpenAiUpstream, startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const postgres = await sharedPostgres();
const UPSTREAM_KEY = "upstream-secret-1234567890";
const WORDS = 40;

const FILE = `builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
connections:
  filed: { base_url: "http://127.0.0.1:9/v1" }
`;

let upstream: OpenAiUpstream;
let slow: OpenAiUpstream;

beforeAll(async () => {
  const scripted = (reply: object) => new ScriptedChat(scriptedSettings.parse({ replies: [reply] }));
  upstream = await startOpenAiUpstream(scripted({ text: "Polly" }), { models: ["bird"] });
  slow = await startOpenAiUpstream(scripted({ text: "word ".repeat(WORDS).trim(), delay_ms_per_token: 25 }));
});
afterAll(async () => {
  await upstream.close();
  await slow.close();
});

describe.each(["sqlite", "postgresql"] as const)("with %s", (kind) => {
  let directory: string;
  let environment: Record<string, string>;
  let service: ServiceProcess;
  /** With SQLite, there is one replica. */
  let other: ServiceProcess;
  let call: ConfigurationClient;

  const start = (more: Record<string, string> = {}, config = FILE) =>
    startServiceProcess({ config: `${config}server: { workers: 2 }\n`, environment: { ...environment, ...more } });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "parlance-live-"));
    environment =
      kind === "sqlite"
        ? { PARLANCE_DATA_DIR: directory }
        : {
            DATABASE_URL: (await postgres.createDatabase()).reveal(),
            PARLANCE_ENCRYPTION_KEY: "e".repeat(32),
          };
    service = await start();
    other = kind === "sqlite" ? service : await start();
    call = configurationClient(service);
  });
  afterAll(async () => {
    await service.stop();
    if (other !== service) await other.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test("serves a model of a new connection on every replica, and never shows the key", async () => {
    const connection = { name: "birds", base_url: upstream.baseUrl, api_key: UPSTREAM_KEY };
    const created = await call("POST", "/connections?reason=Birds", connection);
    expect(created).toMatchObject({ status: 200, body: { source: "api", status: "in_force" } });
    const model = { id: "polly", task: "chat", aliases: ["p"], deployments: [{ connection: "birds", model: "bird" }] };
    expect((await call("POST", "/models", model)).status).toBe(200);
    expect(await chatStatus(service, "polly")).toEqual({ status: 200, text: "Polly" });
    await eventually(async () => expect(await chatStatus(other, "p")).toEqual({ status: 200, text: "Polly" }));
    expect(upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`);
    expect(upstream.received.at(-1)?.body.model).toBe("bird");
    for (const path of [
      "/connections/birds",
      "/configuration/entries",
      "/configuration/versions/1?from=0",
      "/configuration",
      "/audit_logs",
    ]) {
      const { status, body } = await call("GET", path);
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain(UPSTREAM_KEY);
    }
    expect(service.output()).not.toContain(UPSTREAM_KEY);
    expect((await call("GET", "/configuration/versions")).body.data.at(-1)).toMatchObject({
      version: 1,
      reason: "Birds",
      actor: { api_key_id: expect.stringMatching(/^key_/) },
    });
    if (kind === "sqlite") {
      const file = await readFile(join(directory, "parlance.sqlite"));
      expect(file.includes(UPSTREAM_KEY)).toBe(false);
    }
  });

  test("refuses what the file's schema refuses, all errors at once, and keeps what is in force", async () => {
    const bad = { id: "bad", task: "chat", retries: 99, fallbacks: ["none"], deployments: [{ connection: "bird" }] };
    const { status, body } = await call("POST", "/models", bad);
    expect(status).toBe(400);
    for (const part of [
      "retries: must be at most 10",
      'fallbacks[0]: refers to "none", which does not exist',
      "deployments[0].connection: is not the name of an entry of connections; did you mean birds?",
    ]) {
      expect(body.error.message).toContain(part);
    }
    expect((await call("GET", "/models/bad")).status).toBe(404);
    expect(await chatStatus(service, "polly")).toEqual({ status: 200, text: "Polly" });
  });

  test.each([
    ["a program", { engine: "llama-server", hf: "a/b/c.gguf" }, "engine: is set in parlance.yaml only"],
    ["a file", { engine: "llama-cpp", file: "/etc/passwd" }, "file: is set in parlance.yaml only"],
    ["a variable", { engine: "openai-compatible", base_url: "http://a/v1", api_key: "$" + "{PATH}" }, "environment"],
    ["cloud metadata", { engine: "openai-compatible", base_url: "http://169.254.169.254/v1" }, "link-local"],
    [
      "another address for a key",
      { connection: "birds", base_url: "http://a/v1" },
      "base_url: is set by the connection",
    ],
  ])("refuses a deployment that names %s", async (_name, deployment, message) => {
    const { status, body } = await call("POST", "/models", { id: "sly", task: "chat", deployments: [deployment] });
    expect(status).toBe(400);
    expect(body.error.message).toContain(message);
  });

  test("locks what the file says", async () => {
    const model = { id: "parrot", task: "chat", deployments: [{ connection: "birds" }] };
    for (const [path, body] of [
      ["/models", model],
      ["/models/parrot", model],
      ["/connections", { name: "filed", base_url: upstream.baseUrl }],
    ] as const) {
      expect(await call("POST", path, body)).toMatchObject({
        status: 409,
        body: { error: { code: "configuration_locked" } },
      });
    }
    expect((await call("DELETE", "/models/parrot/entry")).status).toBe(409);
    const { body } = await call("GET", "/models/parrot");
    expect(body).toMatchObject({ source: "file", version: null });
  });

  test("keeps a key that is not sent again, only at its address, and refuses to overwrite another change", async () => {
    const { etag } = await call("GET", "/connections/birds");
    const kept = { base_url: upstream.baseUrl, api_key: "[redacted]", idle_timeout_seconds: 60 };
    const changed = await call("POST", "/connections/birds", kept, { "if-match": etag ?? "" });
    expect(changed.status).toBe(200);
    expect(await chatStatus(service, "polly")).toEqual({ status: 200, text: "Polly" });
    expect(upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`);
    const late = await call("POST", "/connections/birds", kept, { "if-match": etag ?? "" });
    expect(late).toMatchObject({ status: 412, body: { error: { code: "version_conflict" } } });
    const moved = await call("POST", "/connections/birds", { ...kept, base_url: slow.baseUrl });
    expect(moved.status).toBe(400);
    expect(moved.body.error.message).toContain("Send 'api_key' again");
    expect((await call("DELETE", "/connections/birds")).body.error.message).toContain("model `polly`");
  });

  test("ends running requests normally when their model and connection are removed", async () => {
    expect((await call("POST", "/connections", { name: "slow", base_url: slow.baseUrl })).status).toBe(200);
    const model = { id: "slow", task: "chat", deployments: [{ connection: "slow" }] };
    expect((await call("POST", "/models", model)).status).toBe(200);
    const stream = await service.client().chat.completions.create({
      model: "slow",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
    });
    let text = "";
    let isRemoved = false;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      if (isRemoved) continue;
      isRemoved = true;
      expect((await call("DELETE", "/models/slow/entry")).status).toBe(200);
      expect((await call("DELETE", "/connections/slow")).status).toBe(200);
      expect((await chatStatus(service, "slow")).status).toBe(404);
    }
    expect(text.split(" ")).toHaveLength(WORDS);
    await eventually(async () => expect((await chatStatus(other, "slow")).status).toBe(404));
  });

  test("compares versions, undoes and redoes", async () => {
    const [{ version }] = (await call("GET", "/configuration/versions?limit=1")).body.data;
    const model = { id: "brief", task: "chat", deployments: [{ connection: "birds" }] };
    await call("POST", "/models", model);
    await call("POST", "/models/brief", { ...model, retries: 1 });
    const { body } = await call("GET", `/configuration/versions/${version + 2}`);
    expect(body.changes).toMatchObject([{ kind: "model", name: "brief", fields: ["retries"], after: { retries: 1 } }]);
    const undone = await call("POST", `/configuration/versions/${version}/restore`);
    expect(undone.body).toMatchObject({ restored: version, version: version + 3 });
    expect((await call("GET", "/models/brief")).status).toBe(404);
    await call("POST", `/configuration/versions/${version + 2}/restore`);
    expect((await call("GET", "/models/brief")).body.value.retries).toBe(1);
    const whole = await call("GET", `/configuration/versions/${version + 4}?from=${version}`);
    expect(whole.body.changes).toMatchObject([{ name: "brief", before: null }]);
    expect((await call("GET", "/configuration/versions/100000")).status).toBe(404);
    await call("DELETE", "/models/brief/entry");
  });

  test("applies default limits and guardrails in every process", async () => {
    const words = [{ type: "words", words: ["zebra"], action: "block" }];
    expect((await call("POST", "/configuration/settings/guardrails", { value: words })).status).toBe(200);
    const ask = (each: ServiceProcess, content: string) =>
      each.post("/v1/chat/completions", { model: "polly", messages: [{ role: "user", content }] });
    expect((await ask(service, "a zebra")).status).not.toBe(200);
    await eventually(async () => expect((await ask(other, "a zebra")).status).not.toBe(200));
    expect((await ask(service, "a horse")).status).toBe(200);
    expect((await call("DELETE", "/configuration/settings/guardrails")).status).toBe(200);
    expect((await ask(service, "a zebra")).status).toBe(200);
    const limit = { value: { requests_per_minute: 0 } };
    expect((await call("POST", "/configuration/settings/limits.key", limit)).status).toBe(200);
    expect((await ask(service, "a horse")).status).toBe(429);
    await eventually(async () => expect((await ask(other, "a horse")).status).toBe(429));
    expect((await call("DELETE", "/configuration/settings/limits.key")).status).toBe(200);
    await eventually(async () => expect((await ask(other, "a horse")).status).toBe(200));
    expect((await call("POST", "/configuration/settings/server.port", { value: 1 })).status).toBe(404);
  });

  test("sends events to webhooks that were added, without showing their secret, until they are removed", async () => {
    await using receiver = await startWebhookReceiver();
    const value = [{ url: receiver.url, secret: WEBHOOK_SECRET, events: ["api_key.created"] }];
    expect((await call("POST", "/configuration/settings/webhooks", { value })).body.value).toEqual([
      { ...value[0], secret: "[redacted]" },
    ]);
    const create = (each: ServiceProcess) => configurationClient(each)("POST", "/admin_api_keys", { name: "Webhook" });
    await create(service);
    await eventually(() => expect(receiver.ofType("api_key.created")).toHaveLength(1));
    await eventually(async () => {
      const { body } = await configurationClient(other)("GET", "/configuration/settings/webhooks");
      expect(body.status).toBe("in_force");
    });
    await create(other);
    await eventually(() => expect(receiver.ofType("api_key.created")).toHaveLength(2));
    const moved = [{ ...value[0], url: `${receiver.url}/elsewhere`, secret: "[redacted]" }];
    expect((await call("POST", "/configuration/settings/webhooks", { value: moved })).status).toBe(400);
    expect((await call("DELETE", "/configuration/settings/webhooks")).status).toBe(200);
    await create(service);
    expect((await call("GET", "/configuration/settings/webhooks")).status).toBe(404);
    expect(receiver.received).toHaveLength(2);
  });

  test("answers an equal change with the entry, also at a replica that has not applied it yet", async () => {
    const model = { id: "echo-of-both", task: "chat", deployments: [{ engine: "scripted", echo: true }] };
    const created = await call("POST", "/models", model);
    const { etag, body } = await configurationClient(other)("POST", "/models/echo-of-both", model);
    expect({ etag, body }).toEqual({ etag: created.etag, body: created.body });
    expect(await chatStatus(other, "echo-of-both")).toEqual({ status: 200, text: "Hi" });
    expect((await call("DELETE", "/models/echo-of-both/entry")).status).toBe(200);
  });

  test("keeps an entry that the file shadows or invalidates, and applies it again afterwards", async () => {
    const shadowing = FILE.replace("id: parrot", "id: polly");
    await writeFile(service.configFile, `${shadowing}server: { workers: 2 }\n`);
    service.process.kill("SIGHUP");
    await eventually(async () => {
      expect(await chatStatus(service, "polly")).toEqual({ status: 200, text: "Hi" });
    });
    // A worker may apply the file before the process that answers this.
    await eventually(async () => {
      const { body } = await call("GET", "/configuration/entries?kind=model");
      expect(body.data.map(({ name, source, status }: Record<string, string>) => [name, source, status])).toEqual([
        ["polly", "file", "in_force"],
        ["polly", "api", "shadowed"],
      ]);
    });
    // An alias of the file that is the ID of an entry would take it out of force.
    const invalidating = FILE.replace("task: chat,", "task: chat, aliases: [polly],");
    await writeFile(service.configFile, `${invalidating}server: { workers: 2 }\n`);
    service.process.kill("SIGHUP");
    await eventually(() => expect(service.output()).toContain("does not fit what was configured through the API"));
    await writeFile(service.configFile, `${FILE}server: { workers: 2 }\n`);
    service.process.kill("SIGHUP");
    await eventually(async () => {
      expect(await chatStatus(service, "polly")).toEqual({ status: 200, text: "Polly" });
    });
  });

  test("starts with valid entries after a kill, with a rotated key and with a file that invalidates some", async () => {
    const dependent = { id: "dependent", task: "chat", fallbacks: ["parrot"], deployments: [{ connection: "birds" }] };
    expect((await call("POST", "/models", dependent)).status).toBe(200);
    await service.stop("SIGKILL");
    const rotated = { PARLANCE_ENCRYPTION_KEY: `${"n".repeat(32)},${"e".repeat(32)}` };
    service = await start(kind === "sqlite" ? {} : rotated, FILE.replace("id: parrot", "id: cockatoo"));
    if (kind === "sqlite") other = service;
    call = configurationClient(service);
    expect(await chatStatus(service, "polly")).toEqual({ status: 200, text: "Polly" });
    expect((await call("GET", "/models/dependent")).body).toMatchObject({
      status: "invalid",
      problem: expect.stringContaining('refers to "parrot", which does not exist'),
    });
    expect((await chatStatus(service, "dependent")).status).toBe(404);
    // Other changes are still possible.
    expect((await call("POST", "/models", { ...dependent, id: "next", fallbacks: [] })).status).toBe(200);
    await service.stop();
    if (kind === "postgresql") {
      // The former key is not needed any more.
      service = await start({ PARLANCE_ENCRYPTION_KEY: "n".repeat(32) });
    } else {
      service = await start();
      other = service;
    }
    call = configurationClient(service);
    expect(await chatStatus(service, "dependent")).toEqual({ status: 200, text: "Polly" });
    expect(upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`);
  });

  test("ignores entries with configuration: file_only, and keeps them", async () => {
    await service.stop();
    service = await start(
      kind === "sqlite" ? {} : { PARLANCE_ENCRYPTION_KEY: "n".repeat(32) },
      `configuration: file_only\n${FILE}`,
    );
    if (kind === "sqlite") other = service;
    call = configurationClient(service);
    expect((await chatStatus(service, "polly")).status).toBe(404);
    expect((await call("GET", "/models/polly")).body.status).toBe("ignored");
    const refused = await call("POST", "/models", { id: "x", task: "chat", deployments: [{ connection: "filed" }] });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: "configuration_locked" } } });
  });
});
