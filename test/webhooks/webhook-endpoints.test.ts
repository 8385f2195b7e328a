/** Webhook endpoints of projects through the official client, on both databases: delivery, secrets, addresses, isolation. */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { WEBHOOK_SECRET } from "../support/observability/webhook-receiver.ts";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const databases = useDatabases();

interface Receiver {
  url: string;
  host: string;
  received: { body: string; headers: IncomingHttpHeaders }[];
  status: number;
}

const closing = new AsyncDisposableStack();
afterAll(() => closing.disposeAsync());

async function startReceiver(): Promise<Receiver> {
  const receiver: Receiver = { url: "", host: "", received: [], status: 200 };
  const server = createServer(async (request, response) => {
    receiver.received.push({ body: await text(request), headers: request.headers });
    response.writeHead(receiver.status, { location: "http://127.0.0.1:9/" }).end("thanks");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  receiver.host = `127.0.0.1:${port}`;
  receiver.url = `http://${receiver.host}/hook`;
  return receiver;
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let receiver: Receiver;
  let service: InProcessService;
  let client: OpenAI;
  let organizationId: string;
  let projectId: string;
  let databaseUrl: string | undefined;

  beforeAll(async () => {
    receiver = await startReceiver();
    const { url } = await databases.create(kind);
    databaseUrl = url?.reveal();
    service = await startService({
      config: `
webhooks: [{ url: "http://127.0.0.1:9/secret-path", secret: "${WEBHOOK_SECRET}", events: [batch.completed, api_key.created] }]
webhook_endpoints: { max_per_project: 3, private_hosts: ["${receiver.host}"] }
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{ text: Polly }] }] }
`,
      environment: {
        PARLANCE_ENCRYPTION_KEY: "e".repeat(40),
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      },
    });
    closing.defer(() => service.stop());
    ({ organizationId } = await service.accounts.defaultScope("admin"));
    ({ client, projectId } = await newProject("Team"));
  });

  async function newProject(name: string) {
    const { id } = await service.accounts.projects.create(OPERATOR, organizationId, name);
    const scope = { organizationId, projectId: id, kind: "project" } as const;
    const key = await service.accounts.apiKeys.create(OPERATOR, { scope, name, expiresInSeconds: undefined });
    const apiKey = key.secret.reveal();
    return { projectId: id, client: new OpenAI({ baseURL: `${service.origin}/v1`, apiKey, maxRetries: 0 }) };
  }

  const subscribe = (to: OpenAI = client) =>
    to.webhooks.create({ name: "Ends", url: receiver.url, event_types: ["response.completed", "response.failed"] });
  const respond = (by: OpenAI = client) => by.responses.create({ model: "parrot", input: "Hm.", background: true });
  const unwrap = ({ body, headers }: Receiver["received"][number], secret: string) =>
    client.webhooks.unwrap(body, headers as Record<string, string>, secret);

  test("shows the secret once, and lists, retrieves, changes and deletes endpoints", async () => {
    const { signing_secret: secret, ...created } = await subscribe();
    expect(secret).toMatch(/^whsec_/);
    expect(created).toMatchObject({ object: "webhook_endpoint", name: "Ends", url: receiver.url });
    expect(created.signing_secret_hint).toBe(`whsec_...${secret.replaceAll("=", "").slice(-4)}`);
    expect(await client.webhooks.retrieve(created.id)).toEqual(created);
    const changed = await client.webhooks.update(created.id, { name: "Others", event_types: ["batch.failed"] });
    expect(changed).toMatchObject({ id: created.id, name: "Others", event_types: ["batch.failed"], url: receiver.url });
    const all = await Array.fromAsync(client.webhooks.list({ limit: 1 }));
    expect(all.map(({ id, name, url }) => ({ id, name, url }))).toEqual([
      { id: created.id, name: "Others", url: receiver.url },
      { id: expect.stringMatching(/^whe_config_/), name: "webhooks of the configuration", url: "http://127.0.0.1:9" },
    ]);
    expect(JSON.stringify(all)).not.toContain("secret-path");
    expect((await client.webhooks.eventTypes.list()).data).toContain("batch.completed");
    expect(await client.webhooks.delete(created.id)).toEqual({
      ...{ id: created.id, object: "webhook_endpoint.deleted", deleted: true },
    });
    await expect(client.webhooks.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
  });

  test("delivers events of the project only, signed with the endpoint's secret", async () => {
    const other = await newProject("Other");
    const [mine, theirs] = [await subscribe(), await subscribe(other.client)];
    receiver.received.length = 0;
    const { id } = await respond();
    await eventually(() => expect(receiver.received).toHaveLength(1));
    const [delivery] = receiver.received;
    if (delivery === undefined) throw new Error("nothing was received");
    expect(await unwrap(delivery, mine.signing_secret)).toMatchObject({
      ...{ type: "response.completed", object: "event", data: { id, project_id: projectId } },
    });
    await expect(unwrap(delivery, theirs.signing_secret)).rejects.toThrow();
    await client.webhooks.delete(mine.id);
    await other.client.webhooks.delete(theirs.id);
  });

  test("signs with both secrets after a rotation that keeps the old one, and with the new one only otherwise", async () => {
    const endpoint = await subscribe();
    const kept = await client.webhooks.rotateSecret(endpoint.id, { keep_old_secret_active_for_24_hours: true });
    expect(kept.signing_secret).not.toBe(endpoint.signing_secret);
    const send = async () => {
      receiver.received.length = 0;
      const result = await client.webhooks.test(endpoint.id, { event_type: "batch.completed" });
      expect(result).toEqual({
        ...{ object: "webhook_endpoint.test", webhook_endpoint_id: endpoint.id, event_type: "batch.completed" },
        ...{ status_code: 200, success: true },
      });
      const [delivery] = receiver.received;
      if (delivery === undefined) throw new Error("nothing was received");
      return delivery;
    };
    const first = await send();
    for (const secret of [endpoint.signing_secret, kept.signing_secret]) {
      expect(await unwrap(first, secret)).toMatchObject({ type: "batch.completed" });
    }
    const renewed = await client.webhooks.rotateSecret(endpoint.id);
    const second = await send();
    expect(await unwrap(second, renewed.signing_secret)).toMatchObject({ type: "batch.completed" });
    for (const secret of [endpoint.signing_secret, kept.signing_secret]) {
      await expect(unwrap(second, secret)).rejects.toThrow();
    }
    await client.webhooks.delete(endpoint.id);
  });

  test("repeats an event that was refused, and follows no redirect", async () => {
    const endpoint = await subscribe();
    receiver.received.length = 0;
    receiver.status = 302;
    const test = await client.webhooks.test(endpoint.id, { event_type: "batch.completed" });
    expect(test.status_code).toBe(302);
    await respond();
    await eventually(() => expect(receiver.received).toHaveLength(2));
    receiver.status = 200;
    await eventually(() => expect(receiver.received).toHaveLength(3), 20_000);
    expect(receiver.received[2]?.headers["webhook-id"]).toBe(receiver.received[1]?.headers["webhook-id"]);
    await client.webhooks.delete(endpoint.id);
  });

  test("refuses addresses that callers may not reach", async () => {
    const endpoint = await subscribe();
    const addresses = [
      "http://example.com/hook",
      "https://127.0.0.1/hook",
      "https://localhost/hook",
      "https://localhost./hook",
      "https://[::1]/hook",
      "https://[::ffff:127.0.0.1]/hook",
      "https://10.0.0.1/hook",
      "https://169.254.169.254/latest/meta-data",
      "https://0x7f000001/hook",
      "https://2130706433/hook",
      "https://user:password@example.com/hook",
      "ftp://example.com/",
      receiver.url.replace("127.0.0.1", "localhost"),
      receiver.url.replace(/:\d+/, ":1"),
    ];
    for (const url of addresses) {
      const create = client.webhooks.create({ name: "x", url, event_types: ["batch.completed"] });
      await expect(create, url).rejects.toMatchObject({ status: 400, param: "url" });
      await expect(client.webhooks.update(endpoint.id, { url }), url).rejects.toMatchObject({ status: 400 });
    }
    expect(await client.webhooks.retrieve(endpoint.id)).toMatchObject({ url: receiver.url });
    await client.webhooks.delete(endpoint.id);
  });

  test("refuses unknown events, one endpoint too many, and changes of configured endpoints", async () => {
    const unknown = client.webhooks.create({ name: "x", url: receiver.url, event_types: ["video.completed"] });
    await expect(unknown).rejects.toMatchObject({ status: 400, param: "event_types" });
    const endpoints = [await subscribe(), await subscribe(), await subscribe()];
    await expect(subscribe()).rejects.toMatchObject({ status: 400, code: "webhook_endpoint_limit" });
    for (const { id } of endpoints) await client.webhooks.delete(id);
    const configured = (await Array.fromAsync(client.webhooks.list())).at(-1)?.id ?? "";
    const refused = { status: 409, code: "webhook_endpoint_locked", message: expect.stringContaining("parlance.yaml") };
    await expect(client.webhooks.update(configured, { name: "x" })).rejects.toMatchObject(refused);
    await expect(client.webhooks.delete(configured)).rejects.toMatchObject(refused);
    await expect(client.webhooks.rotateSecret(configured)).rejects.toMatchObject(refused);
    await expect(client.webhooks.test(configured, { event_type: "batch.failed" })).rejects.toMatchObject(refused);
    expect(await client.webhooks.retrieve(configured)).toMatchObject({ event_types: ["batch.completed"] });
  });

  test("keeps endpoints from other projects", async () => {
    const endpoint = await subscribe();
    const { client: other } = await newProject("Strangers");
    const missing = { status: 404, code: "webhook_endpoint_not_found" };
    await expect(other.webhooks.retrieve(endpoint.id)).rejects.toMatchObject(missing);
    await expect(other.webhooks.update(endpoint.id, { name: "Mine" })).rejects.toMatchObject(missing);
    await expect(other.webhooks.rotateSecret(endpoint.id)).rejects.toMatchObject(missing);
    await expect(other.webhooks.test(endpoint.id, { event_type: "batch.failed" })).rejects.toMatchObject(missing);
    await expect(other.webhooks.delete(endpoint.id)).rejects.toMatchObject(missing);
    expect((await Array.fromAsync(other.webhooks.list())).map(({ id }) => id)).not.toContain(endpoint.id);
    await expect(other.webhooks.list({ after: endpoint.id })).rejects.toMatchObject({ status: 400 });
    await client.webhooks.delete(endpoint.id);
  });

  test("stores no secret in clear, audits changes without it, and deletes endpoints with their project", async () => {
    const { projectId: project, client: owner } = await newProject("Ended");
    const endpoint = await subscribe(owner);
    const { signing_secret: renewed } = await owner.webhooks.rotateSecret(endpoint.id);
    const rows = async () =>
      service.accounts.run((executor) =>
        executor.selectFrom("webhookEndpoints").selectAll().where("projectId", "=", project).execute(),
      );
    const audited = await service.accounts.run(async (executor) =>
      JSON.stringify(
        await executor.selectFrom("auditLogs").selectAll().where("resourceId", "=", endpoint.id).execute(),
      ),
    );
    expect(audited).toContain("webhook_endpoint.created");
    const stored = JSON.stringify(await rows()) + (await rows()).map(({ secret }) => secret.toString("latin1")).join();
    for (const secret of [endpoint.signing_secret, renewed]) {
      for (const form of [secret, secret.slice(6), Buffer.from(secret.slice(6), "base64").toString("latin1")]) {
        expect(stored + audited).not.toContain(form);
      }
    }
    await service.accounts.projects.archive(OPERATOR, { organizationId, id: project });
    expect(await rows()).toEqual([]);
  });
});
