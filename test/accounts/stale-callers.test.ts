/**
 * Changes by callers whom a stale cache of keys still admits, as it does for a second after another replica changed them:
 * rows change here without the version of accounts, by which replicas notice.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import type { Executor } from "../../src/storage/database.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
const PASSWORD = "correct horse battery";

let service: InProcessService;
let organizationId: string;
let count = 0;
beforeAll(async () => {
  service = await startService({
    config: 'builtin_models: false\nwebhook_endpoints: { private_hosts: ["127.0.0.1:9"] }\n',
    environment: { PARLANCE_ENCRYPTION_KEY: "k".repeat(40) },
  });
  ({ organizationId } = await service.accounts.defaultScope("admin"));
});
afterAll(() => service?.stop());

interface Author {
  headers: Record<string, string>;
  userId: string;
  keyId: string;
}

const post = (url: string, payload: object, headers: Record<string, string>) =>
  service.inject({ method: "POST", url, payload, headers });

async function session(url: string, payload: object): Promise<Record<string, string>> {
  const { headers, statusCode } = await post(url, payload, SAME_ORIGIN);
  expect(statusCode).toBe(200);
  return { ...SAME_ORIGIN, cookie: String(headers["set-cookie"]).split(";")[0] ?? "" };
}

async function ownerSession(): Promise<Author> {
  count += 1;
  const email = `owner-${count}@example.com`;
  const invite = { organizationId, email, role: "owner", projects: [], expiresInSeconds: undefined } as const;
  const { token } = await service.accounts.invites.create(OPERATOR, invite);
  const accepted = { token: token.reveal(), name: "Owner", password: PASSWORD };
  const headers = await session("/console/invite/accept", accepted);
  const { user } = (await service.inject({ url: "/console/session", headers })).json();
  return { headers, userId: user.id, keyId: "" };
}

async function adminKey(): Promise<Author & { secret: string }> {
  const scope = { organizationId, kind: "admin" } as const;
  const created = await service.accounts.apiKeys.create(OPERATOR, { scope, name: "A", expiresInSeconds: undefined });
  const secret = created.secret.reveal();
  return { headers: { authorization: `Bearer ${secret}` }, userId: "", keyId: created.key.id, secret };
}

async function keySession(): Promise<Author> {
  const { secret, ...author } = await adminKey();
  return { ...author, headers: await session("/console/session", { key: secret }) };
}

type End = (executor: Executor, author: Author) => Promise<unknown>;
const disable: End = (executor, { userId }) =>
  executor.updateTable("users").set({ disabledAt: 1 }).where("id", "=", userId).execute();
const demote: End = (executor, { userId }) =>
  executor.updateTable("users").set({ role: "reader" }).where("id", "=", userId).execute();
const signOut: End = (executor, { userId }) =>
  executor.deleteFrom("userSessions").where("userId", "=", userId).execute();
const signOutKey: End = (executor, { keyId }) =>
  executor.deleteFrom("consoleGrants").where("keyId", "=", keyId).execute();
const revoke: End = (executor, { keyId }) =>
  executor.updateTable("apiKeys").set({ revokedAt: 1 }).where("id", "=", keyId).execute();

interface Case {
  who: string;
  begin: () => Promise<Author>;
  what: string;
  end: End;
  status: number;
}

test.each<Case>([
  { who: "session of an owner", begin: ownerSession, what: "was signed out", end: signOut, status: 401 },
  { who: "session of an owner", begin: ownerSession, what: "was disabled", end: disable, status: 401 },
  { who: "session of an owner", begin: ownerSession, what: "became a reader", end: demote, status: 403 },
  { who: "session of an admin key", begin: keySession, what: "was signed out", end: signOutKey, status: 401 },
  { who: "admin key", begin: adminKey, what: "was revoked", end: revoke, status: 401 },
])("refuses changes of accounts and configuration: $who that $what", async ({ begin, end, status }) => {
  const author = await begin();
  const change = async () => {
    count += 1;
    const address = { name: `c${count}`, base_url: "http://10.0.0.1:8000/v1" };
    const { headers } = author;
    const changes = [
      await post("/v1/organization/groups", { name: `Group ${count}` }, headers),
      await post("/v1/organization/connections", address, headers),
    ];
    return changes.map(({ statusCode }) => statusCode);
  };
  expect(await change()).toEqual([200, 200]);
  await service.accounts.run((executor) => end(executor, author));
  const read = await service.inject({ url: "/v1/organization/groups", headers: author.headers });
  expect(read.statusCode, "the cache is stale").toBe(200);
  expect(await change()).toEqual([status, status]);
});

test("refuses changes in a project by a key that was revoked", async () => {
  const { projectId = "" } = await service.accounts.defaultScope("project");
  const scope = { organizationId, kind: "project", projectId } as const;
  const created = await service.accounts.apiKeys.create(OPERATOR, { scope, name: "P", expiresInSeconds: undefined });
  const headers = { authorization: `Bearer ${created.secret.reveal()}` };
  const change = async () => {
    count += 1;
    const prompt = { name: `p${count}`, content: { messages: [{ role: "user", content: "Hello" }] } };
    const endpoint = { name: "e", url: "https://127.0.0.1:9/hook", event_types: ["batch.completed"] };
    const answers = [
      await post("/v1/prompts", prompt, headers),
      await post("/v1/webhook_endpoints", endpoint, headers),
    ];
    return answers.map(({ statusCode }) => statusCode);
  };
  expect(await change()).toEqual([200, 200]);
  await service.accounts.run((executor) => revoke(executor, { headers, userId: "", keyId: created.key.id }));
  const read = await service.inject({ url: "/v1/prompts", headers });
  expect(read.statusCode, "the cache is stale").toBe(200);
  expect(await change()).toEqual([401, 401]);
});

test("makes no first owner for an operator who signed out", async () => {
  const author = await keySession();
  await service.accounts.run((executor) => signOutKey(executor, author));
  const owner = { email: "late@example.com", name: "Late", password: PASSWORD };
  const answer = await post("/console/first_owner", owner, author.headers);
  expect([answer.statusCode, answer.json().error.code]).toEqual([401, "session_ended"]);
});
