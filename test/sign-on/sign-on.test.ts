/** Signing in with a provider: the path to a session, what the person may do, and every fault that stops it. */

import { decodeJwt } from "jose";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { type AccessWatch, watchAccess } from "../support/accounts/watch-access.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { eventually } from "../support/service/eventually.ts";
import {
  chatStatus,
  RULES,
  type SignOnService,
  sessionOf,
  startSignOnService,
} from "../support/service/sign-on-service.ts";

let idp: SignOnService;
let watch: AccessWatch;
beforeAll(async () => {
  const second = { id: "second", issuer: "http://127.0.0.1:1", client_id: "parlance" };
  idp = await startSignOnService({
    signOn: "  renew_after_seconds: 1",
    provider: `${RULES}\n    - ${JSON.stringify(second)}`,
  });
  watch = await watchAccess(idp.service);
  const { people } = idp.provider;
  people.set("ada", { email: "ada@example.com", name: "Ada Lovelace", groups: ["admins"] });
  people.set("grace", { email: "Grace@Example.com", name: "Grace Hopper", groups: ["research"] });
  people.set("mallory", { email: "mallory@example.com", name: "Mallory", groups: [], isEmailVerified: false });
  people.set("visitor", { email: "visitor@example.com", name: "Visitor", groups: ["gardeners"] });
});
afterEach(async () => {
  idp.provider.tamper = undefined;
  idp.provider.isAway = false;
  expect(await watch.unaudited()).toEqual([]);
});
afterAll(() => idp?.[Symbol.asyncDispose]());

test("signs a member of a group in and continues to the page that the person wanted", async () => {
  const { browser, page } = await idp.signIn("grace", "/usage");
  expect([page.status, page.text]).toEqual([200, expect.any(String)]);
  expect(page.text).toContain(`url=${idp.service.origin}/#/usage`);
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("set-cookie")).toMatch(/parlance_session_\d+=[\w-]{43};.*HttpOnly; SameSite=Strict/i);
  expect(await sessionOf(browser, idp.service.origin)).toMatchObject({
    signed_in: true,
    is_admin: false,
    project: { name: "Default project" },
    user: { email: "grace@example.com", name: "Grace Hopper", role: "reader", provider: "Test provider" },
  });
  expect(await chatStatus(browser, idp.service.origin)).toBe(200);
  const created = await browser.fetch(`${idp.service.origin}/v1/organization/projects`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Not hers" }),
  });
  expect(created.status).toBe(403);
});

test("gives an owner of the group's role the administration, and keeps the identity at the next sign-in", async () => {
  const first = await idp.signIn("ada");
  const before = await sessionOf(first.browser, idp.service.origin);
  expect(before).toMatchObject({ is_admin: true, user: { role: "reader" } });
  expect(before.user.access.organization).toContain("organization.users.write");
  const projects = await first.browser.fetch(`${idp.service.origin}/v1/organization/projects`);
  expect(projects.status).toBe(200);
  const second = await idp.signIn("ada");
  const after = await sessionOf(second.browser, idp.service.origin);
  expect(after.user.id).toBe(before.user.id);
});

test("limits how often a person signs in, after which every replica reads its keys again", async () => {
  idp.provider.people.set("linus", { email: "linus@example.com", name: "Linus", groups: ["research"] });
  for (let count = 0; count < 100; count += 1) expect((await idp.signIn("linus")).page.status).toBe(200);
  const { browser, page } = await idp.signIn("linus");
  expect([page.status, page.text]).toEqual([429, expect.stringContaining("100 times within 15 minutes")]);
  expect(await sessionOf(browser, idp.service.origin)).toMatchObject({ signed_in: false });
  expect((await idp.signIn("grace")).page.status).toBe(200);
});

test("keeps what the browser needs in a cookie that is encrypted, ends in ten minutes and is not sent by other sites", async () => {
  const answer = await fetch(`${idp.service.origin}/sign-on/idp/start`, { redirect: "manual" });
  expect(answer.headers.get("set-cookie")).toMatch(
    /^parlance_sign_on_[\w-]{12}=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/i,
  );
  const target = new URL(answer.headers.get("location") ?? "");
  expect(target.origin).toBe(idp.provider.issuer);
  expect(Object.fromEntries(target.searchParams)).toMatchObject({
    code_challenge_method: "S256",
    response_type: "code",
    redirect_uri: `${idp.service.origin}/sign-on/idp/callback`,
    state: expect.stringMatching(/.{20}/),
    nonce: expect.stringMatching(/.{20}/),
  });
  expect(answer.headers.get("set-cookie")).not.toContain(target.searchParams.get("nonce"));
});

/** Follows a sign-in up to the provider's answer, which is not delivered yet. */
async function untilCallback(subject: string) {
  idp.provider.signsInAs = subject;
  const browser = new BrowserJar();
  const isCallback = (url: string) => url.startsWith(`${idp.service.origin}/sign-on/idp/callback`);
  const { url } = await browser.open(`${idp.service.origin}/sign-on/idp/start`, isCallback);
  return { browser, url };
}

test("shows a page for a replayed code, with the same cookie and without it", async () => {
  const { browser, url } = await untilCallback("grace");
  const thief = browser.copy();
  expect((await browser.open(url)).status).toBe(200);
  const again = await browser.open(url);
  expect([again.status, again.text]).toEqual([400, expect.stringContaining("This sign-in is no longer open")]);
  const replayed = await thief.open(url);
  expect([replayed.status, replayed.text]).toEqual([400, expect.stringContaining("The provider refused this sign-in")]);
  expect(replayed.headers.get("set-cookie")).not.toContain("parlance_session");
});

test("refuses the answer of a sign-in that began in another browser", async () => {
  const { url } = await untilCallback("grace");
  const other = await untilCallback("ada");
  const page = await other.browser.open(url);
  expect([page.status, page.text]).toEqual([400, expect.stringContaining("This sign-in is no longer open")]);
});

test("refuses an answer that names another issuer, or that arrives at another provider's address", async () => {
  const { browser, url } = await untilCallback("grace");
  const mixedUp = new URL(url);
  expect(mixedUp.searchParams.get("iss")).toBe(idp.provider.issuer);
  mixedUp.searchParams.set("iss", "https://attacker.example");
  const named = await browser.copy().open(mixedUp.href);
  expect([named.status, named.text]).toEqual([400, expect.stringContaining("The answer came from another provider")]);
  const elsewhere = await browser.copy().open(url.replace("/sign-on/idp/", "/sign-on/second/"));
  expect([elsewhere.status, elsewhere.text]).toEqual([400, expect.stringContaining("This sign-in is no longer open")]);
  expect(elsewhere.headers.get("set-cookie")).toBeNull();
  expect((await browser.open(url)).status).toBe(200);
});

test("shows what the provider said when the person cancelled, as text", async () => {
  const { page } = await idp.signIn("nobody");
  expect(page.status).toBe(403);
  expect(page.text).toContain("The provider did not sign you in");
  expect(page.text).toContain("The person pressed &lt;Cancel&gt;");
});

test("asks people without a verified address or without any role to see their administrator", async () => {
  const unverified = await idp.signIn("mallory");
  expect([unverified.page.status, unverified.page.text]).toEqual([403, expect.stringContaining("is not verified")]);
  const { browser, page } = await idp.signIn("visitor");
  expect([page.status, page.text]).toEqual([403, expect.stringContaining("You have no access yet")]);
  expect(page.text).toContain("gardeners");
  expect(await sessionOf(browser, idp.service.origin)).toMatchObject({ signed_in: false });
});

test("shows a page while a provider cannot be discovered, and the other one works", async () => {
  const browser = new BrowserJar();
  const page = await browser.open(`${idp.service.origin}/sign-on/second/start`);
  expect([page.status, page.text]).toEqual([503, expect.stringContaining("The provider cannot be reached")]);
  expect((await idp.signIn("grace")).page.status).toBe(200);
});

test("shows a page while the provider is away, and API keys go on", async () => {
  const { browser, url } = await untilCallback("grace");
  idp.provider.isAway = true;
  const answer = await browser.open(url);
  expect([answer.status, answer.text]).toEqual([503, expect.stringContaining("The provider cannot be reached")]);
  expect(
    (await idp.service.post("/v1/chat/completions", { model: "echo", messages: [{ role: "user", content: "Hi" }] }))
      .status,
  ).toBe(200);
});

const seconds = () => Math.floor(Date.now() / 1000);

test.each<[string, string, (claims: Record<string, unknown>) => Promise<string>]>([
  [
    "another audience",
    "meant for another service",
    (claims) => idp.provider.sign({ ...claims, aud: "another-client" }),
  ],
  [
    "another issuer",
    "came from another provider",
    (claims) => idp.provider.sign({ ...claims, iss: "https://attacker.example" }),
  ],
  ["no signature", "cannot be used|not signed", (claims) => idp.provider.sign(claims, { algorithm: "none" })],
  ["a key of someone else", "not signed with its keys", (claims) => idp.provider.sign(claims, { foreignKey: true })],
  [
    "an unknown key",
    "not signed with its keys",
    (claims) => idp.provider.sign(claims, { foreignKey: true, header: { kid: "unknown" } }),
  ],
  ["another nonce", "cannot be used", (claims) => idp.provider.sign({ ...claims, nonce: "of-another-sign-in" })],
  [
    "a time that is over by six minutes",
    "clocks",
    (claims) => idp.provider.sign({ ...claims, iat: seconds() - 4000, exp: seconds() - 360 }),
  ],
  [
    "a time to come in six minutes",
    "clocks",
    (claims) => idp.provider.sign({ ...claims, iat: seconds() + 360, exp: seconds() + 4000 }),
  ],
])("refuses an ID token with %s, and says so", async (_fault, text, forge) => {
  idp.provider.tamper = async (answer) => ({ ...answer, id_token: await forge(decodeJwt(String(answer.id_token))) });
  const { browser, page } = await idp.signIn("grace");
  expect([400, 403, 502]).toContain(page.status);
  expect(page.text).toMatch(new RegExp(text));
  expect(page.text).toMatch(/Request req_\w+/);
  expect(page.text).not.toMatch(/\bat .*\.ts:|node:internal|Error:/);
  expect(await sessionOf(browser, idp.service.origin)).toMatchObject({ signed_in: false });
});

test("tolerates a clock that is off by four minutes in either direction", async () => {
  for (const shift of [-240, 240]) {
    idp.provider.tamper = async (answer) => {
      const claims = decodeJwt(String(answer.id_token));
      const id_token = await idp.provider.sign({ ...claims, iat: seconds() + shift, exp: seconds() + shift + 10 });
      return { ...answer, id_token };
    };
    expect((await idp.signIn("grace")).page.status).toBe(200);
  }
});

test("goes on after the provider rotated its keys in mid-session", async () => {
  const { browser } = await idp.signIn("grace");
  await idp.provider.rotateKeys();
  const refreshes = () => idp.provider.requests.filter((path) => path === "/token").length;
  const before = refreshes();
  await eventually(async () => {
    await sessionOf(browser, idp.service.origin);
    expect(refreshes()).toBeGreaterThan(before + 1);
  });
  expect(await sessionOf(browser, idp.service.origin)).toMatchObject({ signed_in: true });
  expect((await idp.signIn("ada")).page.status).toBe(200);
});

/** Entries of the audit log, newest first. */
async function auditLog(): Promise<{ id: string; type: string; [type: string]: unknown }[]> {
  return (await idp.admin("GET", "/audit_logs?limit=100")).data;
}

/** Signs a person in, and returns the entries that this wrote, with what they are about. */
async function auditSignIn(subject: string): Promise<[type: string, about: unknown][]> {
  const before = new Set((await auditLog()).map(({ id }) => id));
  expect((await idp.signIn(subject)).page.status).toBe(200);
  const entries = (await auditLog()).filter(({ id }) => !before.has(id));
  return entries.map((entry) => [entry.type, entry[entry.type]]);
}

async function addMember(email: string) {
  const { accounts } = idp.service;
  const { organizationId } = await accounts.defaultScope("admin");
  const wanted = { organizationId, email, role: "reader", projects: [], expiresInSeconds: undefined } as const;
  const { token } = await accounts.invites.create(OPERATOR, wanted);
  return accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: "Member" });
}

test("the audit log says what a sign-in gives and takes, and nothing more when it changes nothing", async () => {
  const email = "linked@example.com";
  const user = await addMember(email);
  const person = { email, name: "Linked", groups: ["research"] };
  idp.provider.people.set("linked", person);
  const source = idp.provider.issuer;
  const first = await auditSignIn("linked");
  expect(first).toContainEqual(["user.updated", { id: user.id, changes_requested: { linked_provider: "idp" } }]);
  expect(first).toContainEqual([
    "group.updated",
    { id: expect.stringMatching(/^group_/), changes_requested: { added_user_id: user.id, source } },
  ]);
  expect((await auditSignIn("linked")).map(([type]) => type)).toEqual(["login.succeeded"]);
  person.groups = ["auditors"];
  expect((await auditSignIn("linked")).map(([type]) => type).toSorted()).toEqual([
    "group.updated",
    "group.updated",
    "login.succeeded",
  ]);
});

test("the audit log says that a sign-in restores the key of a person who is back in a project", async () => {
  const email = "returning@example.com";
  const user = await addMember(email);
  idp.provider.people.set("returning", { email, name: "Returning", groups: [] });
  const { id } = await idp.admin("POST", "/projects", { name: "Left and joined" });
  const join = () => idp.admin("POST", `/projects/${id}/users`, { user_id: user.id, role: "member" });
  await join();
  await auditSignIn("returning");
  await idp.admin("DELETE", `/projects/${id}/users/${user.id}`);
  await join();
  const restored = { id: expect.stringMatching(/^key_/), changes_requested: { restored: true } };
  expect(await auditSignIn("returning")).toContainEqual(["api_key.updated", restored]);
  expect((await auditSignIn("returning")).map(([type]) => type)).toEqual(["login.succeeded"]);
});

test("the audit log says that the operator made an existing user the first owner", async () => {
  const email = "first@example.com";
  const user = await addMember(email);
  idp.provider.people.set("first", { email, name: "First", groups: [] });
  const browser = new BrowserJar();
  const session = await browser.fetch(`${idp.service.origin}/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ key: idp.service.adminKey }),
  });
  expect(session.status).toBe(200);
  idp.provider.signsInAs = "first";
  expect((await browser.open(`${idp.service.origin}/sign-on/idp/start?first_owner=1`)).status).toBe(200);
  const { data } = await idp.admin("GET", `/audit_logs?event_types=user.updated&resource_ids=${user.id}`);
  const changes = data.map((entry: Record<string, { changes_requested: object }>) => entry["user.updated"]);
  expect(changes).toContainEqual({ id: user.id, changes_requested: { role: "owner" } });
});

test.each(["key was revoked", "session was signed out"])("makes no first owner once the operator's %s", async (end) => {
  await using fresh = await startSignOnService();
  const { service, provider } = fresh;
  const { organizationId } = await service.accounts.defaultScope("admin");
  const scope = { organizationId, kind: "admin" } as const;
  const operator = await service.accounts.apiKeys.create(OPERATOR, { scope, name: "A", expiresInSeconds: undefined });
  const browser = new BrowserJar();
  const signedIn = await browser.fetch(`${service.origin}/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ key: operator.secret.reveal() }),
  });
  expect(signedIn.status).toBe(200);
  provider.people.set("late", { email: "late@example.com", name: "Late", groups: ["staff"] });
  provider.signsInAs = "late";
  const begun = await browser.fetch(`${service.origin}/sign-on/idp/start?first_owner=1`, { redirect: "manual" });
  if (end === "key was revoked") await fresh.admin("DELETE", `/admin_api_keys/${operator.key.id}`);
  else await browser.fetch(`${service.origin}/console/session`, { method: "DELETE" });
  await browser.open(begun.headers.get("location") ?? "");
  expect((await sessionOf(browser, service.origin)).user).toMatchObject({ email: "late@example.com", role: "reader" });
});

test("these sign-ins made every kind of change that the audit log has to name", () => {
  expect([...watch.seen]).toEqual(
    expect.arrayContaining(["joined", "left", "user_added", "user_role", "identity_linked", "key_restored"]),
  );
});
