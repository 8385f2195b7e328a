/** What ends a session: the provider, on both replicas; and what it survives. */

import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useDatabases } from "../support/databases/databases.ts";
import type { BrowserJar } from "../support/service/browser-jar.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import {
  chatStatus,
  RULES,
  type SignOnService,
  sessionOf,
  signOnConfig,
  startSignOnService,
} from "../support/service/sign-on-service.ts";

const databases = useDatabases();
let idp: SignOnService;
let replica: Service;
let origins: string[];

beforeAll(async () => {
  const { url } = await databases.create("postgresql");
  const environment = { DATABASE_URL: url?.reveal() ?? "", PARLANCE_ENCRYPTION_KEY: "k".repeat(32) };
  const signOn = "  renew_after_seconds: 1";
  idp = await startSignOnService({ signOn, environment });
  replica = await startService({ config: signOnConfig(idp.provider.issuer, { signOn }), environment });
  origins = [idp.service.origin, replica.origin];
});
afterAll(async () => {
  await replica?.stop();
  await idp?.[Symbol.asyncDispose]();
});

function addPerson(groups: string[]): string {
  const subject = randomUUID();
  idp.provider.people.set(subject, { email: `${subject}@example.com`, name: "Person", groups });
  return subject;
}

function person(subject: string) {
  const found = idp.provider.people.get(subject);
  if (found === undefined) throw new Error(`the provider has no ${subject}`);
  return found;
}

/** Signs in at the first replica. The browser then uses both, as through a load balancer. */
async function signInAtBoth(subject: string): Promise<BrowserJar> {
  const { browser, page } = await idp.signIn(subject);
  expect(page.status).toBe(200);
  const [, token = ""] = /parlance_session_\d+=([\w-]{43})/.exec(browser.cookies()) ?? [];
  browser.setCookie(`parlance_session_${new URL(replica.origin).port}`, token);
  return browser;
}

const statuses = (browser: BrowserJar) => Promise.all(origins.map((origin) => chatStatus(browser, origin)));
const signedIn = (browser: BrowserJar) =>
  Promise.all(origins.map(async (origin) => (await sessionOf(browser, origin)).signed_in));

test("takes a project away from a session on both replicas when its group is taken away, and keeps the rest", async () => {
  const subject = addPerson(["staff", "research"]);
  const browser = await signInAtBoth(subject);
  expect(await statuses(browser)).toEqual([200, 200]);
  person(subject).groups = ["staff"];
  await eventually(async () => expect(await statuses(browser)).toEqual([401, 401]));
  expect(await signedIn(browser)).toEqual([true, true]);
  person(subject).groups = ["staff", "research"];
  await eventually(async () => expect(await statuses(browser)).toEqual([200, 200]));
});

test("ends a session on both replicas when the last group is taken away", async () => {
  const subject = addPerson(["research"]);
  const browser = await signInAtBoth(subject);
  expect(await signedIn(browser)).toEqual([true, true]);
  person(subject).groups = [];
  await eventually(async () => expect(await signedIn(browser)).toEqual([false, false]));
  const log = await idp.admin("GET", "/audit_logs?event_types=logout.succeeded&limit=1");
  expect(log.data[0]["logout.succeeded"].data.reason).toBe("no role gives the user a permission any more");
});

test("ends a session on both replicas when the user is disabled at the provider", async () => {
  const subject = addPerson(["research"]);
  const browser = await signInAtBoth(subject);
  expect(await statuses(browser)).toEqual([200, 200]);
  person(subject).isDisabled = true;
  await eventually(async () => expect(await statuses(browser)).toEqual([401, 401]));
});

test("ends a session on both replicas when an administrator disables the user, and refuses the next sign-in", async () => {
  const subject = addPerson(["research"]);
  const browser = await signInAtBoth(subject);
  const { user } = await sessionOf(browser, idp.service.origin);
  const log = await idp.admin("GET", `/audit_logs?event_types=login.succeeded&resource_ids=${user.id}`);
  expect(log.data[0]["login.succeeded"]).toMatchObject({ id: user.id, data: { method: "provider", provider: "idp" } });
  await idp.admin("POST", `/users/${user.id}`, { disabled: true });
  await eventually(async () => expect(await signedIn(browser)).toEqual([false, false]));
  const { page } = await idp.signIn(subject);
  expect([page.status, page.text]).toEqual([403, expect.stringContaining("Your account is disabled")]);
});

test("names the signed-in user as the author of a change", async () => {
  const subject = addPerson(["admins"]);
  const browser = await signInAtBoth(subject);
  const created = await browser.fetch(`${replica.origin}/v1/organization/projects`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Made by a person" }),
  });
  const { id } = (await created.json()) as { id: string };
  const log = await idp.admin("GET", `/audit_logs?event_types=project.created&resource_ids=${id}`);
  expect(log.data[0].actor).toMatchObject({ type: "session", session: { user: { email: `${subject}@example.com` } } });
});

test("renews a session once for both replicas, whose refresh tokens work once", async () => {
  const subject = addPerson(["research"]);
  const browser = await signInAtBoth(subject);
  const tokenRequests = () => idp.provider.requests.filter((path) => path === "/token").length;
  const before = tokenRequests();
  await eventually(async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => signedIn(browser)));
    expect(new Set(all.flat())).toEqual(new Set([true]));
    expect(tokenRequests()).toBeGreaterThanOrEqual(before + 4);
  });
});

test("ends the session that a logout token names by `sid`, and all sessions of a person without it", async () => {
  const subject = addPerson(["research"]);
  const first = await signInAtBoth(subject);
  const second = await signInAtBoth(subject);
  const [, sid = ""] = idp.provider.sidsOf(subject);
  await logOut(await idp.provider.logoutToken({ sub: subject, sid }));
  await eventually(async () => expect(await signedIn(second)).toEqual([false, false]));
  expect(await signedIn(first)).toEqual([true, true]);
  const third = await signInAtBoth(subject);
  await logOut(await idp.provider.logoutToken({ sub: subject }));
  await eventually(async () => {
    expect([...(await signedIn(first)), ...(await signedIn(third))]).toEqual([false, false, false, false]);
  });
});

/** Signs in with an ID token that the provider issued some seconds ago. */
async function signInEarlier(subject: string, seconds: number): Promise<BrowserJar> {
  const { provider } = idp;
  provider.tamper = async (answer) => {
    const claims = decodeJwt(String(answer.id_token));
    return { ...answer, id_token: await provider.sign({ ...claims, iat: Number(claims.iat) - seconds }) };
  };
  try {
    return await signInAtBoth(subject);
  } finally {
    provider.tamper = undefined;
  }
}

test("a logout token that comes late or again ends no session that began after it", async () => {
  const subject = addPerson(["research"]);
  const earlier = await signInEarlier(subject, 60);
  const later = await signInAtBoth(subject);
  const token = await idp.provider.logoutToken({ sub: subject, iat: Math.floor(Date.now() / 1000) - 30 });
  await logOut(token);
  await eventually(async () => expect(await signedIn(earlier)).toEqual([false, false]));
  expect(await signedIn(later)).toEqual([true, true]);
  await logOut(token);
  expect(await signedIn(later)).toEqual([true, true]);
});

async function logOut(token: string, status = 200): Promise<string> {
  const body = new URLSearchParams({ logout_token: token });
  const response = await fetch(`${idp.service.origin}/sign-on/idp/backchannel-logout`, { method: "POST", body });
  const text = await response.text();
  expect([response.status, text]).toEqual([status, expect.any(String)]);
  expect(response.headers.get("cache-control")).toBe("no-store");
  return text;
}

test("refuses logout tokens that are forged, meant for others, or no logout tokens", async () => {
  const subject = addPerson(["research"]);
  const browser = await signInAtBoth(subject);
  const { provider } = idp;
  const forged = [
    await provider.logoutToken({ sub: subject }, { foreignKey: true }),
    await provider.logoutToken({ sub: subject }, { algorithm: "none" }),
    await provider.logoutToken({ sub: subject, aud: "another-client" }),
    await provider.logoutToken({ sub: subject, iss: "https://attacker.example" }),
    await provider.logoutToken({ sub: subject, nonce: "of an ID token" }),
    await provider.logoutToken({ sub: subject, events: {} }),
    await provider.logoutToken({}),
    await provider.logoutToken({ sub: subject, iat: Math.floor(Date.now() / 1000) - 3600 }),
    "not a token",
  ];
  for (const token of forged) {
    expect(JSON.parse(await logOut(token, 400))).toMatchObject({ error: "invalid_request" });
  }
  const empty = await fetch(`${idp.service.origin}/sign-on/idp/backchannel-logout`, { method: "POST" });
  expect(empty.status).toBe(400);
  expect(await signedIn(browser)).toEqual([true, true]);
});

test.each([
  ["email", { email: "nul\0@example.com" }],
  ["name", { name: "Nul\0" }],
  ["groups", { groups: ["research", "nul\0"] }],
])("answers 400 where the provider's `%s` has NUL, which PostgreSQL does not store", async (_claim, claims) => {
  const subject = addPerson(["research"]);
  Object.assign(person(subject), claims);
  const { page } = await idp.signIn(subject);
  expect([page.status, page.text]).toEqual([400, expect.stringContaining("has a NUL character")]);
});

test("answers 400 to a logout token whose subject has NUL", async () => {
  expect(JSON.parse(await logOut(await idp.provider.logoutToken({ sub: "nul\0" }), 400))).toMatchObject({
    error: "invalid_request",
  });
});

test("signs out at the provider, too, which then ends the person's session in another browser", async () => {
  const subject = addPerson(["research"]);
  const browser = await signInAtBoth(subject);
  const ended = await browser.fetch(`${idp.service.origin}/console/session`, { method: "DELETE" });
  const { end_session_url: url } = (await ended.json()) as { end_session_url: string };
  expect(new URL(url).origin).toBe(idp.provider.issuer);
  expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
    post_logout_redirect_uri: `${idp.service.origin}/`,
    id_token_hint: expect.stringMatching(/^eyJ/),
  });
  const page = await browser.open(url);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("Log out")]);
  expect(await signedIn(browser)).toEqual([false, false]);
});

test("checks a session by userinfo when the provider gives no refresh token", async () => {
  const other = await startSignOnService({
    signOn: "  renew_after_seconds: 1",
    hasRefreshTokens: false,
    hasClaimsInIdToken: false,
    provider: RULES,
  });
  try {
    const { people } = other.provider;
    people.set("grace", { email: "grace@example.com", name: "Grace Hopper", groups: ["research"] });
    const { browser, page } = await other.signIn("grace");
    expect(page.status).toBe(200);
    const userInfoRequests = () => other.provider.requests.filter((path) => path === "/me").length;
    const before = userInfoRequests();
    await eventually(async () => {
      expect(await chatStatus(browser, other.service.origin)).toBe(200);
      expect(userInfoRequests()).toBeGreaterThan(before + 1);
    });
    people.set("grace", { email: "grace@example.com", name: "Grace Hopper", groups: [] });
    await eventually(async () =>
      expect(await sessionOf(browser, other.service.origin)).toMatchObject({ signed_in: false }),
    );
  } finally {
    await other[Symbol.asyncDispose]();
  }
});
