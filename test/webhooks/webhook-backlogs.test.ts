/** Receivers of projects that hang or stay away, on both databases: whom they delay, and how much waits for them. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { MAX_WAITING } from "../../src/features/webhooks/webhook-outbox.ts";
import { HOUR_MS } from "../../src/kernel/durations.ts";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const databases = useDatabases();
const closing = new AsyncDisposableStack();
afterAll(() => closing.disposeAsync());

/** Endpoints of one project, as many as can be allowed. */
const HANGING = 100;
const ROWS_PER_INSERT = 500;

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  /** Paths of the attempts so far, and of those that were given up. */
  const attempted: string[] = [];
  const givenUp: string[] = [];
  const refusedAt: number[] = [];
  let host: string;
  let service: InProcessService;
  let organizationId: string;

  beforeAll(async () => {
    const server = createServer((request, response) => {
      const path = request.url ?? "";
      attempted.push(path);
      if (path === "/refuses") refusedAt.push(performance.now());
      if (path === "/refuses") return response.writeHead(500).end();
      if (path !== "/hangs") return response.end("thanks");
      return response.once("close", () => givenUp.push(path));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    closing.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const databaseUrl = (await databases.create(kind)).url?.reveal();
    service = await startService({
      config: `
webhook_endpoints: { max_per_project: ${HANGING}, private_hosts: ["${host}"] }
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
  });

  async function newProject(name: string): Promise<OpenAI> {
    const { id: projectId } = await service.accounts.projects.create(OPERATOR, organizationId, name);
    const scope = { organizationId, projectId, kind: "project" } as const;
    const key = await service.accounts.apiKeys.create(OPERATOR, { scope, name, expiresInSeconds: undefined });
    return new OpenAI({ baseURL: `${service.origin}/v1`, apiKey: key.secret.reveal(), maxRetries: 0 });
  }

  const subscribe = (client: OpenAI, path: string) =>
    client.webhooks.create({ name: path, url: `http://${host}/${path}`, event_types: ["response.completed"] });
  const respond = (client: OpenAI) => client.responses.create({ model: "parrot", input: "Hm.", background: true });

  async function addWaiting(endpoint: string, count: number, dueAt: number): Promise<void> {
    const common = { endpoint, type: "response.completed", payload: "{}", createdAt: dueAt, attempts: 0, dueAt };
    for (let start = 0; start < count; start += ROWS_PER_INSERT) {
      const rows = Array.from({ length: Math.min(ROWS_PER_INSERT, count - start) }, (_, index) => ({
        ...{ ...common, id: `whd_${endpoint}_${start + index}`, eventId: `evt_${start + index}` },
      }));
      await service.accounts.run((executor) => executor.insertInto("webhookDeliveries").values(rows).execute());
    }
  }

  test("endpoints that hang, each with a backlog, delay no other project", async () => {
    const [slow, quick] = [await newProject("Slow"), await newProject("Quick")];
    for (let count = 0; count < HANGING; count += 1) {
      const { id } = await subscribe(slow, "hangs");
      await addWaiting(id, 3, Date.now() - HOUR_MS);
    }
    await subscribe(quick, "quick");
    await respond(slow);
    await eventually(() => expect(attempted.length).toBeGreaterThanOrEqual(20));
    await respond(quick);
    await eventually(() => expect(attempted).toContain("/quick"), 30_000);
    expect(givenUp).toEqual([]);
  });

  test("a receiver that refuses events is not sent its backlog at once", async () => {
    const client = await newProject("Refusing");
    const { id } = await subscribe(client, "refuses");
    await addWaiting(id, 50, Date.now() - HOUR_MS);
    await respond(client);
    await eventually(() => expect(refusedAt.length).toBeGreaterThanOrEqual(3), 20_000);
    const [first = 0, , third = 0] = refusedAt;
    expect(third - first).toBeGreaterThan(1_500);
    await client.webhooks.delete(id);
  });

  test("what waits for a receiver that stays away is bounded, and others of the project get their events", async () => {
    const client = await newProject("Away");
    const { id } = await subscribe(client, "away");
    await subscribe(client, "present");
    await addWaiting(id, MAX_WAITING, Date.now() + HOUR_MS);
    const countWaiting = () =>
      service.accounts.run(async (executor) => {
        const rows = executor.selectFrom("webhookDeliveries").where("endpoint", "=", id);
        return Number((await rows.select(({ fn }) => fn.countAll().as("count")).executeTakeFirstOrThrow()).count);
      });
    await respond(client);
    await eventually(() => expect(attempted).toContain("/present"));
    expect(await countWaiting()).toBe(MAX_WAITING);
    expect(attempted).not.toContain("/away");
    const metrics = await (await service.fetch("/metrics")).text();
    expect(metrics).toContain('parlance_webhook_attempts_total{event="response.completed",outcome="dropped"} 1');
  });
});
