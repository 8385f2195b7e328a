/** Events reach a receiver that verifies them, once, whatever fails on the way. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../../../test/support/observability/webhook-receiver.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import type { DeploymentHealth } from "../../catalog/deployment-status.ts";
import type { Backoff } from "../../kernel/async/backoff.ts";
import { HOUR_MS } from "../../kernel/durations.ts";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../../storage/database.ts";
import { OPERATOR } from "../accounts/index.ts";
import { publishSpendAlert } from "../budgets/publish-spend-alert.ts";
import { SpendAlerts } from "../budgets/spend-alerts.ts";
import type { SpendBound } from "../quota/spend-bound.ts";
import { leasedDeliveries, type WebhookOutcome } from "./delivery-attempt.ts";
import { DeploymentAlerts } from "./deployment-alerts.ts";
import { removeWebhookLogBefore } from "./log-queries.ts";
import { WebhookAdministration } from "./webhook-administration.ts";
import { WEBHOOK_EVENT_TYPES, type WebhookEvent } from "./webhook-event.ts";
import { WebhookOutbox } from "./webhook-outbox.ts";
import { WebhookSender } from "./webhook-sender.ts";

const databases = useDatabases();
const logger = createLogger("silent");
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

const batchCompleted = (id: string): WebhookEvent => ({ type: "batch.completed", data: { id, project_id: "proj_1" } });

interface Replica {
  database: Database;
  outbox: WebhookOutbox;
  outcomes: WebhookOutcome[];
  publish(event: WebhookEvent): Promise<void>;
  startSender(backoff?: Backoff): WebhookSender;
}

function openReplica(options: DatabaseOptions, ...receivers: Pick<WebhookReceiver, "url">[]): Replica {
  const database = openDatabase(options);
  cleanup.defer(() => database.close());
  const secret = new Secret(WEBHOOK_SECRET);
  const outbox = new WebhookOutbox(receivers.map(({ url }) => ({ url, secret, events: WEBHOOK_EVENT_TYPES })));
  const outcomes: WebhookOutcome[] = [];
  return {
    database,
    outbox,
    outcomes,
    publish: (event) => database.transaction((executor) => outbox.add(executor, event, Date.now())),
    startSender: (backoff) => {
      const onAttempt = (_type: string, outcome: WebhookOutcome) => void outcomes.push(outcome);
      const sender = new WebhookSender({ database, outbox, logger, onAttempt, ...(backoff && { backoff }) });
      cleanup.defer(() => sender.close());
      return sender;
    },
  };
}

async function startReceiver(): Promise<WebhookReceiver> {
  return cleanup.use(await startWebhookReceiver());
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("replicas that share an outbox deliver each event once, and the official library verifies it", async () => {
    const receiver = await startReceiver();
    const options = await databases.create(kind);
    const replicas = [openReplica(options, receiver), openReplica(options, receiver)] as const;
    for (let index = 0; index < 60; index += 1) await replicas[index % 2]?.publish(batchCompleted(`batch_${index}`));
    await Promise.all(replicas.map((replica) => replica.startSender().send()));
    await eventually(() => expect(receiver.received.length).toBeGreaterThanOrEqual(60));
    await pause(200);
    expect(receiver.received).toHaveLength(60);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(60);
    expect(new Set(receiver.received.map(({ data }) => data.id)).size).toBe(60);
    expect(receiver.refused).toEqual([]);
    expect(receiver.received[0]).toMatchObject({
      type: "batch.completed",
      object: "event",
      id: expect.stringMatching(/^evt_/),
      created_at: expect.closeTo(Date.now() / 1000, -2),
      timestamp: expect.stringMatching(/^20.*Z$/),
    });
  });

  test("repeats a refused event with the same ID until it is accepted", async () => {
    const receiver = await startReceiver();
    const replica = openReplica(await databases.create(kind), receiver);
    receiver.answerWith(500, 302);
    const sender = replica.startSender({ initial: 0.01, jitter: [0.8, 1.2] });
    await replica.publish(batchCompleted("batch_1"));
    await eventually(async () => {
      await sender.send();
      expect(receiver.received).toHaveLength(1);
    });
    expect(receiver.refused).toEqual(Array(2).fill(receiver.received[0]?.id));
    expect(replica.outcomes).toEqual(["retried", "retried", "delivered"]);
  });

  test("delivers to an endpoint while another one does not answer", async () => {
    const silent = createServer();
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
    cleanup.defer(() => silent.closeAllConnections());
    cleanup.defer(() => void silent.close());
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const receiver = await startReceiver();
    const replica = openReplica(await databases.create(kind), { url }, receiver);
    const sender = replica.startSender();
    for (let index = 0; index < 30; index += 1) await replica.publish(batchCompleted(`batch_${index}`));
    void sender.send();
    await eventually(() => expect(receiver.received).toHaveLength(30));
    await replica.publish(batchCompleted("batch_later"));
    await eventually(() => expect(receiver.received).toHaveLength(31));
  });

  test("logs each delivery with its last answer, sends one again and tests an endpoint", async () => {
    const receiver = await startReceiver();
    const replica = openReplica(await databases.create(kind), receiver);
    const webhooks = new WebhookAdministration(replica);
    receiver.answerWith(503, 410);
    const sender = replica.startSender({ initial: 0.01, jitter: [0.8, 1.2] });
    await replica.publish(batchCompleted("batch_1"));
    const page = { endpoint: undefined, state: undefined, limit: 10, order: "desc" } as const;
    const entries = async () => (await webhooks.deliveries(page)).entries;
    await eventually(async () => {
      await sender.send();
      expect(await entries()).toMatchObject([{ state: "failed", attempts: 2, status: 410, type: "batch.completed" }]);
    });
    const [failed] = await entries();
    expect(await webhooks.endpoints()).toMatchObject([
      { url: receiver.url, pending: 0, counts: { delivered: 0, retrying: 0, failed: 1 } },
    ]);
    await webhooks.retry(OPERATOR, failed?.id ?? "");
    await eventually(async () =>
      expect(await entries()).toMatchObject([{ id: failed?.id, state: "delivered", attempts: 1, status: 200 }]),
    );
    expect(receiver.received).toMatchObject([{ id: failed?.eventId, data: { id: "batch_1" } }]);
    const id = await webhooks.test(OPERATOR, receiver.url);
    await eventually(async () => expect(await entries()).toMatchObject([{ id, type: "webhook.test" }, {}]));
    expect((await webhooks.deliveries({ ...page, state: "failed" })).entries).toEqual([]);
    expect((await webhooks.deliveries({ ...page, endpoint: "http://127.0.0.1:9/" })).entries).toEqual([]);
    await expect(webhooks.test(OPERATOR, "http://127.0.0.1:9/")).rejects.toMatchObject({
      kind: "not-found",
      param: "url",
    });
    await expect(webhooks.retry(OPERATOR, "whd_unknown")).rejects.toMatchObject({ kind: "not-found" });
    const remove = (time: number) => replica.database.run((executor) => removeWebhookLogBefore(executor, time));
    expect(await remove(Date.now() + 1000)).toBe(2);
  });

  test("logs why an endpoint did not answer", async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await new Promise((closed) => server.close(closed));
    const replica = openReplica(await databases.create(kind), { url });
    const webhooks = new WebhookAdministration(replica);
    await replica.publish(batchCompleted("batch_1"));
    await replica.startSender().send();
    const { entries } = await webhooks.deliveries({ endpoint: url, state: "retrying", limit: 10, order: "desc" });
    expect(entries).toMatchObject([{ status: null, answer: expect.stringContaining("ECONNREFUSED"), attempts: 1 }]);
    expect(await webhooks.endpoints()).toMatchObject([{ url, pending: 1, counts: { retrying: 1 } }]);
  });

  test("leaves an event that a process took and did not deliver to another one", async () => {
    const receiver = await startReceiver();
    const replica = openReplica(await databases.create(kind), receiver);
    await replica.publish(batchCompleted("batch_1"));
    const taken = await leasedDeliveries(replica.database).claim({ limit: 10, leaseMs: HOUR_MS });
    expect(taken).toHaveLength(1);
    const sender = replica.startSender();
    await sender.send();
    expect(receiver.received).toEqual([]);
    const expired = { dueAt: 0 };
    await replica.database.run((executor) => executor.updateTable("webhookDeliveries").set(expired).execute());
    await sender.send();
    expect(receiver.received).toHaveLength(1);
  });

  test("reports each percentage of a limit once, and the highest of several at once", async () => {
    const receiver = await startReceiver();
    const options = await databases.create(kind);
    let spent = 0;
    const alerts = [1, 2].map(() => {
      const replica = openReplica(options, receiver);
      replica.startSender();
      const channels = { webhooks: replica.outbox, mail: undefined };
      const each = new SpendAlerts({
        ...{ database: replica.database, logger, spentIn: async () => spent, isWanted: () => true },
        publish: (executor, alert) => publishSpendAlert(channels, executor, alert),
      });
      cleanup.defer(() => each.close());
      return each;
    });
    const bound: SpendBound = {
      ...{ countId: "spend proj_1", period: "month", thresholdCents: 100, isEnforcing: true, begunAt: 0 },
      scope: { organizationId: "org_1", projectId: null, subject: "project", id: "proj_1" },
      window: { from: Date.UTC(2026, 10), until: Date.UTC(2026, 11) },
      alertPercents: [50, 80, 100],
      budget: undefined,
    };
    // Reservations let the upper bound reach the limit before the recorded amount does.
    for (const dollars of [0.49, 0.5, 0.6, 0.79, 1, 1.2]) {
      spent = dollars * 1e9;
      for (const each of alerts) each.note({ bound, atMost: 2e9 });
      await Promise.all(alerts.map((each) => each.check()));
    }
    await eventually(() => expect(receiver.received).toHaveLength(2));
    expect(receiver.received.map(({ data }) => data.percent).sort()).toEqual([100, 50]);
    expect(receiver.ofType("spend_limit.reached")[0]?.data).toMatchObject({
      scope_id: "proj_1",
      limit: { value: 1, currency: "usd" },
      month: "2026-11-01",
    });
  });

  test("reports a deployment that is down for several replicas once, and its return", async () => {
    const receiver = await startReceiver();
    const options = await databases.create(kind);
    const health: DeploymentHealth = { deployment: "far", model: "m", downReason: "repeated failures" };
    const alerts = [1, 2].map(() => {
      const replica = openReplica(options, receiver);
      replica.startSender();
      const each = new DeploymentAlerts({ ...replica, logger, health: () => [health] });
      cleanup.defer(() => each.close());
      return each;
    });
    const check = () => Promise.all(alerts.map((each) => each.check()));
    await check();
    await check();
    await eventually(() => expect(receiver.ofType("deployment.down")).toHaveLength(1));
    health.downReason = undefined;
    await check();
    await eventually(() => expect(receiver.ofType("deployment.up")).toHaveLength(1));
    health.downReason = "repeated failures";
    await check();
    await eventually(() => expect(receiver.ofType("deployment.down")).toHaveLength(2));
    expect(receiver.received[0]?.data).toEqual({ deployment: "far", model: "m", reason: "repeated failures" });
  });
});

test("gives an event up after 16 attempts, and at once when the receiver is gone", async () => {
  const receiver = await startReceiver();
  const replica = openReplica(await databases.create("sqlite"), receiver);
  const sender = replica.startSender({ initial: 0.001, max: 0.001 });
  receiver.answerWith(...Array(16).fill(503));
  await replica.publish(batchCompleted("batch_1"));
  await eventually(async () => {
    await sender.send();
    expect(replica.outcomes.at(-1)).toBe("dropped");
  });
  expect(replica.outcomes).toHaveLength(16);
  receiver.answerWith(410);
  await replica.publish(batchCompleted("batch_2"));
  await eventually(() => expect(replica.outcomes).toHaveLength(17));
  expect(replica.outcomes.at(-1)).toBe("dropped");
  await sender.send();
  expect(receiver.received).toEqual([]);
});

test("stores an event only for endpoints that want it, and not if its transaction fails", async () => {
  const receiver = await startReceiver();
  const replica = openReplica(await databases.create("sqlite"), receiver);
  const secret = new Secret(WEBHOOK_SECRET);
  const other = new WebhookOutbox([{ url: receiver.url, secret, events: ["api_key.created"] }]);
  await replica.database.run((executor) => other.add(executor, batchCompleted("batch_1"), Date.now()));
  const failing = replica.database.transaction(async (executor) => {
    await replica.outbox.add(executor, batchCompleted("batch_2"), Date.now());
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  await replica.startSender().send();
  expect(receiver.received).toEqual([]);
});
