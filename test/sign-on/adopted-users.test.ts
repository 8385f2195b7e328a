/** What somebody made of a person's account ends once a provider, or a directory, says who the person is. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { chatStatus, type SignOnService, sessionOf, startSignOnService } from "../support/service/sign-on-service.ts";

const PASSWORD = "correct horse battery";
const OTHER_PASSWORD = "staple battery horse";

let idp: SignOnService;
let project: { id: string };
let count = 0;
beforeAll(async () => {
  idp = await startSignOnService();
  [project] = (await idp.admin("GET", "/projects")).data;
});
afterAll(() => idp?.[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answer = { status: number; body: any };

async function send(browser: Pick<BrowserJar, "fetch">, method: string, path: string, body: unknown): Promise<Answer> {
  const response = await browser.fetch(`${idp.service.origin}${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const post = (browser: BrowserJar, path: string, body: unknown) => send(browser, "POST", path, body);
const signIn = (email: string, password = PASSWORD) => post(new BrowserJar(), "/console/session", { email, password });

/** Sends a request with a key. */
function withKey(key: string) {
  return {
    fetch: (url: string, options: RequestInit = {}) =>
      fetch(url, { ...options, headers: { ...options.headers, authorization: `Bearer ${key}` } }),
  };
}

const scim = (method: string, path: string, body: unknown) =>
  send(withKey(idp.service.adminKey), method, `/scim/v2${path}`, body);

async function statusOfKey(key: string, path: string): Promise<number> {
  const response = await withKey(key).fetch(`${idp.service.origin}${path}`);
  await response.body?.cancel();
  return response.status;
}

/** A person at the provider, whose invite the inviter accepts with a password, a key, and a link for another password. */
async function acceptForOther(groups: string[]) {
  count += 1;
  const email = `person-${count}@example.com`;
  const subject = `person-${count}`;
  idp.provider.people.set(subject, { email, name: "The person", groups });
  const projects = [{ id: project.id, role: "member" }];
  const { token } = await idp.admin("POST", "/invites", { email, role: "reader", projects });
  const browser = new BrowserJar();
  const accepted = await post(browser, "/console/invite/accept", { token, name: "Inviter", password: PASSWORD });
  expect(accepted.status).toBe(200);
  const { id } = accepted.body.user;
  const key = await post(browser, `/v1/organization/projects/${project.id}/api_keys`, { name: "Laptop" });
  const { accounts } = idp.service;
  const { organizationId } = await accounts.defaultScope("admin");
  const scope = { organizationId, kind: "admin", userId: id } as const;
  const wanted = { scope, name: "Admin", expiresInSeconds: undefined };
  const admin = await accounts.apiKeys.create({ ...OPERATOR, access: undefined }, wanted);
  await accounts.run(async (executor) => {
    const common = { organizationId, userId: id, projectId: null, state: "connected", scopes: null } as const;
    const unset = { url: null, issuer: null, missingScopes: null, tokens: null, tokenExpiresAt: null, request: null };
    const grant = { ...common, ...unset, id: `grant_${id}`, server: "notes", version: 0, createdAt: 0 };
    await executor
      .insertInto("mcpGrants")
      .values({ ...grant, connectedAt: 0, refreshingUntil: null })
      .execute();
  });
  const link = await idp.admin("POST", `/users/${id}/password_link`, {});
  // Batches and evals of the session run with this key.
  const { id: jobKeyId } = await accounts.run((executor) =>
    executor
      .selectFrom("apiKeys")
      .select("id")
      .where("userId", "=", id)
      .where("name", "=", "Signed in")
      .executeTakeFirstOrThrow(),
  );
  return {
    id,
    email,
    subject,
    browser,
    jobKeyId,
    key: key.body.value,
    adminKey: admin.secret.reveal(),
    link: link.token,
  };
}

type Adopted = Awaited<ReturnType<typeof acceptForOther>>;

/** What works of that which the inviter made; the link is used up last. */
async function findWorking({ id, email, browser, jobKeyId, key, adminKey, link }: Adopted): Promise<string[]> {
  const grants = await idp.service.accounts.run((executor) =>
    executor.selectFrom("mcpGrants").select("id").where("userId", "=", id).execute(),
  );
  const works = {
    session: (await sessionOf(browser, idp.service.origin)).signed_in,
    key: (await statusOfKey(key, "/v1/models")) === 200,
    adminKey: (await statusOfKey(adminKey, `/v1/organization/users/${id}`)) === 200,
    jobs: (await idp.service.accounts.callerOfKey(jobKeyId, "batch")) !== undefined,
    account: grants.length > 0,
    password: (await signIn(email)).status === 200,
    link: (await post(new BrowserJar(), "/console/password", { token: link, password: OTHER_PASSWORD })).status === 200,
  };
  return Object.entries(works).flatMap(([name, isWorking]) => (isWorking ? [name] : []));
}

test("works until somebody says who the person is", async () => {
  const made = await acceptForOther([]);
  expect(await findWorking(made)).toEqual(["session", "key", "adminKey", "jobs", "account", "password", "link"]);
});

test("ends when the person signs in with the provider, whose groups make the person an owner", async () => {
  const made = await acceptForOther(["admins"]);
  const { browser, page } = await idp.signIn(made.subject);
  expect(page.status).toBe(200);
  expect(await findWorking(made)).toEqual([]);
  const session = await sessionOf(browser, idp.service.origin);
  expect(session).toMatchObject({ is_admin: true, user: { id: made.id, provider: "Test provider" } });
  expect(await chatStatus(browser, idp.service.origin)).toBe(200);
  const { data } = await idp.admin("GET", `/audit_logs?event_types[]=user.updated&resource_ids[]=${made.id}`);
  const changes = data.map((entry: Record<string, { changes_requested: object }>) => entry["user.updated"]);
  expect(changes).toContainEqual(
    expect.objectContaining({ changes_requested: expect.objectContaining({ local_access: "ended" }) }),
  );
});

test("keeps what the person makes after signing in with the provider, also when a directory takes the person over", async () => {
  const made = await acceptForOther(["research"]);
  const { browser } = await idp.signIn(made.subject);
  const key = await post(browser, `/v1/organization/projects/${project.id}/api_keys`, { name: "Mine" });
  expect((await idp.signIn(made.subject)).page.status).toBe(200);
  expect((await scim("POST", "/Users", { userName: made.email })).body).toMatchObject({ id: made.id });
  expect(await statusOfKey(key.body.value, "/v1/models")).toBe(200);
  expect(await sessionOf(browser, idp.service.origin)).toMatchObject({ signed_in: true, user: { id: made.id } });
});

test.each<[string, (made: Adopted) => Promise<Answer>]>([
  ["adds the address", ({ email }) => scim("POST", "/Users", { userName: email })],
  ["replaces the user", ({ id, email }) => scim("PUT", `/Users/${id}`, { userName: email })],
  [
    "changes the user",
    ({ id }) => scim("PATCH", `/Users/${id}`, { Operations: [{ op: "add", path: "title", value: "CTO" }] }),
  ],
])("ends when a directory %s", async (_how, takeOver) => {
  const made = await acceptForOther([]);
  expect((await takeOver(made)).body).toMatchObject({ id: made.id });
  expect(await findWorking(made)).toEqual([]);
  // Until a provider has signed the person in, a password can be theirs; the directory keeps what it knows.
  const link = await idp.admin("POST", `/users/${made.id}/password_link`, {});
  const set = await post(new BrowserJar(), "/console/password", { token: link.token, password: OTHER_PASSWORD });
  expect(set.status).toBe(200);
  const title = { Operations: [{ op: "add", path: "title", value: "Chief" }] };
  expect((await scim("PATCH", `/Users/${made.id}`, title)).status).toBe(200);
  expect((await signIn(made.email, OTHER_PASSWORD)).status).toBe(200);
});

test("refuses passwords of people who sign in with a provider", async () => {
  const made = await acceptForOther(["research"]);
  const refused = { error: { code: "sign_on_required", message: expect.stringContaining("Test provider") } };
  const { accounts } = idp.service;
  const passwordOf = (userId: string) =>
    accounts.run((executor) =>
      executor.selectFrom("userPasswords").selectAll().where("userId", "=", userId).executeTakeFirst(),
    );
  const password = await passwordOf(made.id);
  const links = await accounts.run((executor) =>
    executor.selectFrom("passwordLinks").selectAll().where("userId", "=", made.id).execute(),
  );
  await idp.signIn(made.subject);
  expect(await passwordOf(made.id)).toBeUndefined();
  expect(await idp.admin("POST", `/users/${made.id}/password_link`, {})).toMatchObject(refused);
  // As they may be left of an earlier version.
  await accounts.run(async (executor) => {
    if (password !== undefined) await executor.insertInto("userPasswords").values(password).execute();
    await executor.insertInto("passwordLinks").values(links).execute();
  });
  expect(await signIn(made.email)).toMatchObject({ status: 403, body: refused });
  const link = await post(new BrowserJar(), "/console/password", { token: made.link, password: OTHER_PASSWORD });
  expect(link).toMatchObject({ status: 403, body: refused });
});
