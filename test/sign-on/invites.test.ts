/** Invites accepted with a password or a provider, and one person who signs in twice at once. */

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type AccessWatch, watchAccess } from "../support/accounts/watch-access.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { chatStatus, type SignOnService, sessionOf, startSignOnService } from "../support/service/sign-on-service.ts";

const PASSWORD = "correct horse battery";

let idp: SignOnService;
let watch: AccessWatch;
let project: { id: string };
beforeAll(async () => {
  idp = await startSignOnService();
  watch = await watchAccess(idp.service);
  [project] = (await idp.admin("GET", "/projects")).data;
});
afterEach(async () => {
  expect(await watch.unaudited()).toEqual([]);
});
afterAll(() => idp?.[Symbol.asyncDispose]());

/** Invites an address into the default project. */
async function invite(email: string): Promise<{ id: string; token: string }> {
  return idp.admin("POST", "/invites", { email, role: "reader", projects: [{ id: project.id, role: "member" }] });
}

async function post(browser: BrowserJar, path: string, body: unknown) {
  const response = await browser.fetch(`${idp.service.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, body: (await response.json()) as any };
}

/** Follows the link of an invite to the provider, as this person. */
async function acceptWithProvider(token: string, subject: string) {
  idp.provider.signsInAs = subject;
  const browser = new BrowserJar();
  const page = await browser.open(`${idp.service.origin}/sign-on/idp/start?invite=${encodeURIComponent(token)}`);
  return { browser, page };
}

test("accepts an invite with a password, once, and the person calls models", async () => {
  const { token } = await invite("New.Colleague@example.com");
  const browser = new BrowserJar();
  const shown = await post(browser, "/console/invite", { token });
  expect(shown).toMatchObject({
    status: 200,
    body: { email: "new.colleague@example.com", organization: { name: "Default organization" } },
  });
  const accepted = await post(browser, "/console/invite/accept", { token, name: "New Colleague", password: PASSWORD });
  expect(accepted).toMatchObject({
    status: 200,
    body: { user: { name: "New Colleague", role: "reader" }, project: { id: project.id }, is_admin: false },
  });
  expect(await chatStatus(browser, idp.service.origin)).toBe(200);
  const again = await post(new BrowserJar(), "/console/invite/accept", { token, name: "Thief", password: PASSWORD });
  expect(again).toMatchObject({ status: 403, body: { error: { code: "invite_used" } } });
  const wrong = await post(new BrowserJar(), "/console/invite", { token: "inv-wrong" });
  expect(wrong).toMatchObject({ status: 403, body: { error: { code: "invite_not_found" } } });
});

test("accepts an invite with the provider, for the invited address only", async () => {
  const { token } = await invite("hedy@example.com");
  idp.provider.people.set("thief", { email: "thief@example.com", name: "Thief", groups: [] });
  idp.provider.people.set("hedy", { email: "hedy@example.com", name: "Hedy Lamarr", groups: [] });
  const stolen = await acceptWithProvider(token, "thief");
  expect([stolen.page.status, stolen.page.text]).toEqual([
    403,
    expect.stringMatching(/This invite cannot be accepted[\s\S]*for another address/),
  ]);
  const { browser, page } = await acceptWithProvider(token, "hedy");
  expect(page.status).toBe(200);
  expect(await sessionOf(browser, idp.service.origin)).toMatchObject({ user: { name: "Hedy Lamarr" } });
  expect(await chatStatus(browser, idp.service.origin)).toBe(200);
});

test("accepts the pending invite of an address whose owner signs in without the link", async () => {
  const { id } = await invite("rosalind@example.com");
  idp.provider.people.set("rosalind", { email: "Rosalind@example.com", name: "Rosalind Franklin", groups: [] });
  const { browser, page } = await idp.signIn("rosalind");
  expect(page.status).toBe(200);
  expect(await chatStatus(browser, idp.service.origin)).toBe(200);
  expect(await idp.admin("GET", `/invites/${id}`)).toMatchObject({ status: "accepted" });
});

test("makes one user of a person who signs in from several browsers at once while an invite is accepted", async () => {
  const { token } = await invite("twice@example.com");
  idp.provider.people.set("twice", { email: "twice@example.com", name: "Twice", groups: ["research"] });
  idp.provider.signsInAs = "twice";
  const start = `${idp.service.origin}/sign-on/idp/start`;
  const browsers = Array.from({ length: 5 }, () => new BrowserJar());
  const pages = await Promise.all([
    ...browsers.map((browser) => browser.open(start)),
    new BrowserJar().open(`${start}?invite=${token}`),
  ]);
  expect(pages.map((page) => page.status)).toEqual(pages.map(() => 200));
  const { data } = await idp.admin("GET", "/users?emails=twice@example.com");
  expect(data).toHaveLength(1);
});

test("keeps two people apart when the provider gives one's address to another", async () => {
  idp.provider.people.set("former", { email: "desk@example.com", name: "Former colleague", groups: ["research"] });
  expect((await idp.signIn("former")).page.status).toBe(200);
  idp.provider.people.set("successor", { email: "desk@example.com", name: "Successor", groups: ["research"] });
  const { page } = await idp.signIn("successor");
  expect([page.status, page.text]).toEqual([403, expect.stringContaining("belongs to another identity")]);
});

test("refuses a link for the password of somebody who may do more than its author", async () => {
  const owner = await idp.admin("POST", "/invites", { email: "chief@example.com", role: "owner" });
  const chief = new BrowserJar();
  const accepted = { token: owner.token, name: "Chief", password: PASSWORD };
  const { body } = await post(chief, "/console/invite/accept", accepted);
  const role = await idp.admin("POST", "/roles", { role_name: "Helpdesk", permissions: ["organization.users.write"] });
  const helper = new BrowserJar();
  const helperInvite = await invite("helper@example.com");
  const session = await post(helper, "/console/invite/accept", {
    token: helperInvite.token,
    name: "Helper",
    password: PASSWORD,
  });
  await idp.admin("POST", `/users/${session.body.user.id}/roles`, { role_id: role.id });
  const link = await post(helper, `/v1/organization/users/${body.user.id}/password_link`, {});
  expect(link).toMatchObject({ status: 403, body: { error: { code: "insufficient_permissions" } } });
});
