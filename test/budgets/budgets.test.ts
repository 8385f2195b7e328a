/** Budgets of a real service: enforcement, administration, alerts by webhook and e-mail, a killed process. */

import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { type SmtpReceiver, startSmtpReceiver } from "../support/mail/smtp-receiver.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../support/observability/webhook-receiver.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const cleanup = new AsyncDisposableStack();
let webhooks: WebhookReceiver;
let smtp: SmtpReceiver;
let service: ServiceProcess;
let start: () => Promise<ServiceProcess>;

beforeAll(async () => {
  webhooks = cleanup.use(await startWebhookReceiver());
  smtp = cleanup.use(await startSmtpReceiver());
  const url = await (await sharedPostgres()).createDatabase();
  // Each output token costs ten cents; prompts are free.
  const config = `
builtin_models: false
webhooks:
  - { url: "${webhooks.url}", secret: "\${WEBHOOK_SECRET}", events: [budget.reached] }
mail:
  host: 127.0.0.1
  port: ${smtp.port}
  security: none
  from: Parlance <parlance@example.com>
  public_url: https://ai.example.com/
usage:
  labels: { end_users: true, end_user_header: x-openwebui-user-id, tag_header: x-tags, tag_metadata: [feature] }
models:
  - { id: parrot, task: chat, price: { completion: "0.1" }, deployments: [{ engine: scripted, slots: 200, replies: [{ text: Polly }] }] }
`;
  start = () => startServiceProcess({ config, environment: { DATABASE_URL: url.reveal(), WEBHOOK_SECRET } });
  service = await start();
});
afterAll(async () => {
  await service?.stop();
  await cleanup.disposeAsync();
});

const administrator = () =>
  new OpenAI({ baseURL: service.baseUrl, apiKey: null, adminAPIKey: service.adminKey, maxRetries: 0 }).admin
    .organization;

async function send(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await service.fetch(`/v1/organization${path}`, init);
  // biome-ignore lint/suspicious/noExplicitAny: the service checks its answers against their schemas
  return { status: answer.status, body: (await answer.json()) as any };
}

/** A project with a key. */
async function newProject(name: string) {
  const { projects } = administrator();
  const { id } = await projects.create({ name });
  const { api_key: key } = await projects.serviceAccounts.create(id, { name });
  const say = (fields: object = {}, headers: Record<string, string> = {}) =>
    service.post(
      "/v1/chat/completions",
      { model: "parrot", messages: [{ role: "user", content: "Hm." }], max_completion_tokens: 1, ...fields },
      { headers: { authorization: `Bearer ${key?.value}`, ...headers } },
    );
  return { id, keyId: key?.id ?? "", say };
}

function nextMonday(): Date {
  const day = new Date();
  do day.setUTCDate(day.getUTCDate() + 1);
  while (day.getUTCDay() !== 1);
  return day;
}

const budgetOf = (subject: object, more: object = {}) => ({
  subject,
  interval: "day",
  threshold_amount: 20,
  alert_percents: [],
  ...more,
});

test("refuses each end user beyond its own budget, and says which one and until when", async () => {
  const { id, say } = await newProject("End users");
  const created = await send(
    "POST",
    `/projects/${id}/budgets`,
    budgetOf({ type: "end_user" }, { name: "Everyone", interval: "week" }),
  );
  expect(created.status).toBe(200);
  const ada = await Promise.all(Array.from({ length: 6 }, () => say({ safety_identifier: "ada" })));
  expect(ada.filter(({ status }) => status === 200)).toHaveLength(2);
  const refused = ada.find(({ status }) => status === 429);
  const { error } = (await (refused as Response).json()) as { error: { code: string; message: string } };
  expect(refused?.headers.get("x-should-retry")).toBe("false");
  expect(error.code).toBe("insufficient_quota");
  const resets = nextMonday().toISOString().slice(0, 10);
  expect(error.message).toContain(`The weekly budget "Everyone" (${created.body.id}) of the end user ada is reached`);
  expect(error.message).toContain("Limit $0.200000");
  expect(error.message).toContain(`It resets on ${resets} at 00:00 UTC`);
  // The header that the configuration trusts takes precedence.
  expect((await say({ user: "ada" }, { "x-openwebui-user-id": "bob" })).status).toBe(200);
  expect((await say({ user: "carl" }, { "x-openwebui-user-id": "ada" })).status).toBe(429);
  expect((await say()).status).toBe(200);
  await eventually(async () => {
    const { body } = await send("GET", `/projects/${id}/budgets/${created.body.id}/usage`);
    expect(body.data).toEqual([
      { subject_id: "ada", spent: { value: 0.2, currency: "usd" }, percent: 100 },
      { subject_id: "bob", spent: { value: 0.1, currency: "usd" }, percent: 50 },
    ]);
  });
});

test("bounds a tag, a key and a project, each for itself", async () => {
  const { id, keyId, say } = await newProject("Subjects");
  const tag = await send("POST", "/budgets", budgetOf({ type: "tag", id: "feature:search" }, { project_id: id }));
  const key = await send(
    "POST",
    "/budgets",
    budgetOf({ type: "api_key", id: keyId }, { threshold_amount: 50, interval: "total" }),
  );
  const project = await send("POST", "/budgets", budgetOf({ type: "project", id }, { threshold_amount: 70 }));
  expect([tag.status, key.status, project.status]).toEqual([200, 200, 200]);
  const search = { metadata: { feature: "search" } };
  const tags = { "x-tags": Array.from({ length: 50 }, (_, index) => `t${index}`).join() };
  const statuses = [];
  for (const fields of [search, search, search]) statuses.push((await say(fields)).status);
  // However many tags stand before it.
  statuses.push((await say(search, tags)).status);
  for (const fields of [{}, {}, {}, {}]) statuses.push((await say(fields)).status);
  expect(statuses).toEqual([200, 200, 429, 429, 200, 200, 200, 429]);
  // A higher threshold keeps what was spent.
  const raised = await send("POST", `/budgets/${key.body.id}`, { threshold_amount: 60, name: "Raised" });
  expect(raised.body).toMatchObject({ name: "Raised", threshold_amount: 60, subject: { type: "api_key", id: keyId } });
  expect((await say()).status).toBe(200);
  const refused = (await (await say()).json()) as { error: { message: string } };
  expect(refused.error.message).toContain('The total budget "Raised"');
  expect(refused.error.message).toContain("It does not reset.");
  await send("POST", `/budgets/${key.body.id}`, { enforcement: { status: "inactive" } });
  expect((await say()).status).toBe(200);
  expect((await say()).status).toBe(429);
  await eventually(async () => {
    const { body } = await send("GET", `/budgets/${project.body.id}`);
    expect(body.usage).toMatchObject({ spent: { value: 0.7 }, percent: 100 });
  });
  await send("DELETE", `/budgets/${project.body.id}`);
  expect((await say()).status).toBe(200);
  expect((await send("GET", `/budgets/${project.body.id}`)).status).toBe(404);
});

test("never spends more than a budget with a hundred requests at once", async () => {
  const { id, say } = await newProject("Load");
  await send("POST", "/budgets", budgetOf({ type: "project", id }, { threshold_amount: 130 }));
  const answers = await Promise.all(Array.from({ length: 100 }, () => say({ max_completion_tokens: 3 })));
  const admitted = answers.filter(({ status }) => status === 200).length;
  // Each reserves thirty cents and costs ten.
  expect(admitted).toBeGreaterThanOrEqual(4);
  expect(admitted).toBeLessThanOrEqual(13);
  // An answer does not wait for its settlement.
  let spent = admitted;
  await eventually(async () => {
    while (spent < 13 && (await say()).status === 200) spent += 1;
    expect(spent).toBe(13);
  });
  expect((await say()).status).toBe(429);
});

test("refuses a budget that cannot work, naming the field", async () => {
  const { id } = await newProject("Invalid");
  const cases = [
    [budgetOf({ type: "project", id: "proj_none" }), 404, "proj_none"],
    [budgetOf({ type: "api_key", id: "key_none" }), 400, "There is no API key `key_none`"],
    [budgetOf({ type: "user", id: "user_none" }), 400, "There is no user `user_none`"],
    [budgetOf({ type: "project" }, { starts_at: 1 }), 400, "'starts_at' needs 'interval' to be \"total\""],
    [budgetOf({ type: "project" }, { threshold_amount: 0 }), 400, "threshold_amount"],
    [budgetOf({ type: "project" }, { interval: "year" }), 400, "interval"],
    [budgetOf({ type: "organization", id }), 400, "subject.id"],
    [
      budgetOf({ type: "project" }, { notification_channel: { type: "email", recipients: ["nobody"] } }),
      400,
      "notification_channel.recipients",
    ],
  ] as const;
  for (const [body, status, text] of cases) {
    const answer = await send("POST", "/budgets", body);
    expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringContaining(text)]);
  }
  const elsewhere = await send("POST", `/projects/${id}/budgets`, budgetOf({ type: "tag" }, { project_id: "other" }));
  expect(elsewhere.body.error).toMatchObject({ param: "project_id" });
});

test("the official client manages spend alerts, which arrive once by e-mail and as an event", async () => {
  const { id, say } = await newProject("Alerts");
  const { spendAlerts } = administrator().projects;
  const channel = { type: "email" as const, recipients: ["Finance@example.com"], subject_prefix: "Money" };
  const body = { currency: "USD" as const, interval: "month" as const, notification_channel: channel };
  const alert = await spendAlerts.create(id, { ...body, threshold_amount: 500 });
  expect(alert).toEqual({
    ...{ id: alert.id, object: "project.spend_alert", ...body, threshold_amount: 500 },
    notification_channel: { ...channel, recipients: ["finance@example.com"] },
  });
  const changed = await spendAlerts.update(alert.id, { project_id: id, ...body, threshold_amount: 20 });
  expect(changed.threshold_amount).toBe(20);
  expect(await spendAlerts.retrieve(alert.id, { project_id: id })).toEqual(changed);
  expect((await Array.fromAsync(spendAlerts.list(id))).map((each) => each.id)).toEqual([alert.id]);
  // Those of the organization are others.
  const ofOrganization = administrator().spendAlerts;
  const general = await ofOrganization.create({ ...body, threshold_amount: 100_000 });
  expect((await Array.fromAsync(ofOrganization.list())).map((each) => each.id)).toEqual([general.id]);
  await expect(ofOrganization.retrieve(alert.id)).rejects.toMatchObject({ status: 404 });
  expect(await ofOrganization.delete(general.id)).toMatchObject({ id: general.id, deleted: true });

  smtp.refuseWith(451);
  for (let request = 0; request < 4; request += 1) expect((await say()).status).toBe(200);
  await eventually(() => expect(smtp.received.filter(({ to }) => to === "finance@example.com")).toHaveLength(1));
  const [mail] = smtp.received;
  expect(mail).toMatchObject({ from: "parlance@example.com", subject: "Money: spend alert at 100 %" });
  expect(mail?.body).toContain(`The spend alert of the project ${id} has reached 100 %`);
  expect(mail?.body).toContain("https://ai.example.com/#/budgets");
  expect(smtp.refusals).toBe(1);
  await eventually(() => expect(webhooks.received.map(({ data }) => data.budget_id)).toEqual([alert.id]));
  expect(webhooks.received[0]?.data).toMatchObject({
    ...{ project_id: id, percent: 100, interval: "month", is_enforcing: false },
    ...{ subject: { type: "project", id }, limit: { value: 0.2, currency: "usd" } },
  });
});

test("sends an invite by e-mail, with its link", async () => {
  const invite = await administrator().invites.create({ email: "Grace@example.com", role: "reader" });
  const { token } = invite as unknown as { token: string };
  const mails = () => smtp.received.filter(({ to }) => to === "grace@example.com");
  await eventually(() => expect(mails()).toHaveLength(1));
  const link = /https:\/\/\S+/.exec(mails()[0]?.body ?? "")?.[0];
  expect(link).toBe(`https://ai.example.com/#/invite?token=${encodeURIComponent(token)}`);
});

test("sends an alert once although the process is killed before the mail server accepts it", async () => {
  const { id, say } = await newProject("Killed");
  const notification_channel = { type: "email", recipients: ["late@example.com"] };
  const more = { threshold_amount: 10, alert_percents: [100], notification_channel };
  const { body } = await send("POST", "/budgets", budgetOf({ type: "project", id }, more));
  const { refusals } = smtp;
  smtp.refuseWith(...Array(1_000).fill(451));
  expect((await say()).status).toBe(200);
  await eventually(() => expect(smtp.refusals).toBeGreaterThan(refusals));
  service.process.kill("SIGKILL");
  await service.stop();
  service = await start();
  smtp.refuseWith();
  const mails = () => smtp.received.filter(({ to }) => to === "late@example.com");
  await eventually(() => expect(mails()).toHaveLength(1));
  const events = webhooks.received.filter(({ data }) => data.budget_id === body.id);
  expect(new Set(events.map((event) => event.id)).size).toBe(1);
  // The budget is spent: neither a refused request nor the check at the start reports it again.
  expect((await say()).status).toBe(429);
  await send("POST", `/budgets/${body.id}`, { threshold_amount: 20 });
  expect((await say()).status).toBe(200);
  await eventually(() => expect(mails()).toHaveLength(2));
  expect(new Set(mails().map(({ messageId }) => messageId)).size).toBe(2);
});
