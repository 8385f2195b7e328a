/** What a project's rules demand of the keys of its users, on two replicas with one database. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { useDatabases } from "../support/databases/databases.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, price: { prompt: "0.001", completion: "0.01" }, deployments: [{ engine: scripted, echo: true }] }
  - { id: owl, task: chat, deployments: [{ engine: scripted, echo: true }] }
limits:
  failed_authentications_per_minute: 100000
  user_keys: { max_per_project: 5, max_lifetime_days: 90 }
`;
const HOUR = 3_600;

const databases = useDatabases();
let first: Service;
let second: Service;
let count = 0;

beforeAll(async () => {
  const { url } = await databases.create("postgresql");
  const environment = { DATABASE_URL: url?.reveal() ?? "", PARLANCE_ENCRYPTION_KEY: "k".repeat(32) };
  first = await startService({ config: CONFIG, environment });
  second = await startService({ config: CONFIG, environment });
});
afterAll(async () => {
  await second?.stop();
  await first?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answer = { status: number; body: any };

async function send(method: string, path: string, body?: unknown, key = first.adminKey): Promise<Answer> {
  const response = await fetch(`${first.baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** A project with a member who has an admin key of their own. */
async function newTeam() {
  count += 1;
  const { body: project } = await send("POST", "/organization/projects", { name: `Team ${count}` });
  const email = `person-${count}@example.com`;
  const user = (await scimUser(email)).body;
  await send("POST", `/organization/projects/${project.id}/users`, { user_id: user.id, role: "member" });
  const path = `/organization/projects/${project.id}`;
  const browser = await signIn(user.id);
  const asMember = async (method: string, route: string, body?: unknown): Promise<Answer> => {
    const response = await browser.fetch(`${first.baseUrl}${path}${route}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  return { path, user, asMember, rules: (body: object) => send("POST", `${path}/key_rules`, body) };
}

async function scimUser(email: string): Promise<Answer> {
  const response = await fetch(`${first.origin}/scim/v2/Users`, {
    method: "POST",
    headers: { authorization: `Bearer ${first.adminKey}`, "content-type": "application/scim+json" },
    body: JSON.stringify({ userName: email }),
  });
  return { status: response.status, body: await response.json() };
}

/** Signs a user in with a password. */
async function signIn(userId: string): Promise<BrowserJar> {
  const { body: link } = await send("POST", `/organization/users/${userId}/password_link`, {});
  const browser = new BrowserJar();
  const response = await browser.fetch(`${first.origin}/console/password`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: link.token, password: "correct horse battery" }),
  });
  expect([response.status, link]).toEqual([200, expect.anything()]);
  return browser;
}

async function chat(key: string, model = "owl", service = first): Promise<Answer> {
  const response = await fetch(`${service.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: "user", content: "Polly" }] }),
  });
  return { status: response.status, body: await response.json() };
}

test("bounds how many keys a user has and how long they live", async () => {
  const { asMember, path, rules } = await newTeam();
  const old = await asMember("POST", "/api_keys", { name: "Old", expires_in_seconds: 80 * 24 * HOUR });
  expect((await rules({ max_keys_per_user: 2, max_lifetime_seconds: HOUR })).body).toEqual({
    object: "project.key_rules",
    max_keys_per_user: 2,
    max_lifetime_seconds: HOUR,
    model_ids: null,
    max_spend_cents_per_month: null,
  });
  // Everyone whom the rules bind may read them; only those who set limits change them.
  expect((await asMember("GET", "/key_rules")).body.max_keys_per_user).toBe(2);
  expect((await asMember("POST", "/key_rules", {})).status).toBe(403);
  const shortened = (await asMember("GET", `/api_keys/${old.body.id}`)).body;
  expect(shortened.expires_at - shortened.created_at).toBe(HOUR);

  const tooLong = await asMember("POST", "/api_keys", { name: "Long", expires_in_seconds: HOUR + 1 });
  expect(tooLong).toMatchObject({ status: 400, body: { error: { param: "expires_in_seconds" } } });
  expect((await asMember("POST", "/api_keys", { name: "Forever" })).status).toBe(400);
  const created = await asMember("POST", "/api_keys", { name: "Short", expires_in_seconds: HOUR / 2 });
  expect(created.status).toBe(200);
  expect(await asMember("POST", "/api_keys", { name: "Third", expires_in_seconds: 60 })).toMatchObject({
    status: 400,
    body: { error: { code: "too_many_keys", message: expect.stringContaining("the maximum is 2") } },
  });
  // The lifetime counts from the creation, however often somebody extends it.
  expect((await asMember("POST", `/api_keys/${created.body.id}`, { expires_in_seconds: HOUR * 2 })).status).toBe(400);
  // Keys without a user are free of the rules.
  expect((await send("POST", `${path}/api_keys`, { name: "Service" })).body.expires_at).toBeNull();

  expect((await send("DELETE", `${path}/key_rules`)).body).toEqual({
    object: "project.key_rules.deleted",
    deleted: true,
  });
  expect((await send("DELETE", `${path}/key_rules`)).body.deleted).toBe(false);
  expect((await asMember("POST", "/api_keys", { name: "Third", expires_in_seconds: HOUR * 2 })).status).toBe(200);
});

test("bounds the models of a user's keys on both replicas, and of no other key", async () => {
  const { asMember, path, rules } = await newTeam();
  const { value: key } = (await asMember("POST", "/api_keys", { name: "Mine", expires_in_seconds: HOUR })).body;
  const { value: serviceKey } = (await send("POST", `${path}/api_keys`, { name: "Service" })).body;
  expect((await chat(key, "parrot")).status).toBe(200);
  expect((await rules({ model_ids: ["owl", "unknown"] })).body.error.param).toBe("model_ids[1]");
  await rules({ model_ids: ["owl"] });
  expect(await chat(key, "parrot")).toMatchObject({ status: 404, body: { error: { code: "model_not_found" } } });
  expect((await chat(key, "owl")).status).toBe(200);
  expect((await chat(serviceKey, "parrot")).status).toBe(200);
  await eventually(async () => expect((await chat(key, "parrot", second)).status).toBe(404));
  await rules({ model_ids: null });
  expect((await chat(key, "parrot")).status).toBe(200);
});

test("bounds what each key of a user spends in a month", async () => {
  const { asMember, path, rules } = await newTeam();
  const create = async (name: string) =>
    (await asMember("POST", "/api_keys", { name, expires_in_seconds: HOUR })).body as { id: string; value: string };
  const newKey = async (name: string) => (await create(name)).value;
  const rotated = await create("Rotated");
  const [one, other] = [await newKey("One"), await newKey("Other")];
  const { value: serviceKey } = (await send("POST", `${path}/api_keys`, { name: "Service" })).body;
  await rules({ max_spend_cents_per_month: 30 });
  const spend = async (key: string, maximum = 100) => {
    const statuses: number[] = [];
    for (let index = 0; index < maximum && statuses.at(-1) !== 429; index += 1)
      statuses.push((await chat(key, "parrot")).status);
    return statuses;
  };
  const statuses = await spend(one);
  expect(statuses.at(0)).toBe(200);
  expect(statuses.at(-1)).toBe(429);
  expect((await chat(one, "parrot")).body.error.code).toBe("insufficient_quota");
  expect((await chat(one, "owl")).status).toBe(200);
  expect((await chat(other, "parrot")).status).toBe(200);
  // A rotation continues the count.
  await spend(rotated.value);
  const successor = (await asMember("POST", `/api_keys/${rotated.id}/rotate`, { overlap_seconds: 0 })).body;
  expect((await chat(successor.value, "parrot")).status).toBe(429);
  expect(new Set(await spend(serviceKey, statuses.length + 1))).toEqual(new Set([200]));
  await rules({ max_spend_cents_per_month: 100_000 });
  expect((await chat(one, "parrot")).status).toBe(200);
});

test("ends a key on both replicas when its owner leaves", async () => {
  const { asMember, user } = await newTeam();
  const { value: key } = (await asMember("POST", "/api_keys", { name: "Mine", expires_in_seconds: HOUR })).body;
  const statuses = async () => [(await chat(key)).status, (await chat(key, "owl", second)).status];
  expect(await statuses()).toEqual([200, 200]);
  await send("POST", `/organization/users/${user.id}`, { disabled: true });
  await eventually(async () => expect(await statuses()).toEqual([401, 401]));
  await send("POST", `/organization/users/${user.id}`, { disabled: false });
  await eventually(async () => expect(await statuses()).toEqual([200, 200]));
  expect((await asMember("DELETE", `/../../users/${user.id}`)).status).toBe(200);
  await eventually(async () => expect(await statuses()).toEqual([401, 401]));
});
