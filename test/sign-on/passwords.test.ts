/** Users with a password: the first owner, wrong passwords and links. */

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { readAccountsVersion } from "../../src/features/accounts/accounts-version.ts";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { type AccessWatch, watchAccess } from "../support/accounts/watch-access.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { RULES, sessionOf, startSignOnService } from "../support/service/sign-on-service.ts";

const PASSWORD = "correct horse battery";
const OTHER_PASSWORD = "staple battery horse";
const OWNER = { email: "Owner@Example.com", name: "First owner", password: PASSWORD };

let service: InProcessService;
let watch: AccessWatch;
let owner: Promise<BrowserJar> | undefined;
beforeAll(async () => {
  service = await startService({
    config: `builtin_models: false
limits: { failed_authentications_per_minute: 1000 }
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
  watch = await watchAccess(service);
});
afterEach(async () => {
  expect(await watch.unaudited()).toEqual([]);
});
afterAll(() => service?.stop());

async function post(browser: BrowserJar, path: string, body: unknown) {
  const response = await browser.fetch(`${service.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

/** A browser of the owner, whom the first call makes. */
function theOwner(): Promise<BrowserJar> {
  owner ??= operator().then(async (browser) => {
    const made = await post(browser, "/console/first_owner", OWNER);
    expect(made).toMatchObject({
      status: 200,
      body: {
        is_admin: true,
        needs_owner: false,
        project: { name: "Default project" },
        user: { email: "owner@example.com", name: "First owner", role: "owner", has_password: true, provider: null },
      },
    });
    return browser;
  });
  return owner;
}

const signIn = (email: string, password: string, browser = new BrowserJar()) =>
  post(browser, "/console/session", { email, password });

/** A browser that used the terminal's link. */
async function operator(): Promise<BrowserJar> {
  const answer = await fetch(`${service.origin}/v1/organization/console_sign_in_codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.adminKey}` },
  });
  const { code } = (await answer.json()) as { code: string };
  const browser = new BrowserJar();
  expect((await post(browser, "/console/session", { code })).status).toBe(200);
  return browser;
}

test("makes the first owner with the terminal's link, and no second one", async () => {
  const stranger = await post(new BrowserJar(), "/console/first_owner", OWNER);
  expect(stranger.status).toBe(403);
  const member = new BrowserJar();
  await post(member, "/console/session", { key: service.apiKey });
  expect((await post(member, "/console/first_owner", OWNER)).status).toBe(403);

  const browser = await operator();
  expect(await sessionOf(browser, service.origin)).toMatchObject({ needs_owner: true, user: null, is_admin: true });
  const short = await post(browser, "/console/first_owner", { ...OWNER, password: "too short" });
  expect(short).toMatchObject({ status: 400, body: { error: { param: "password" } } });
  await theOwner();
  const again = await post(await operator(), "/console/first_owner", { ...OWNER, email: "second@example.com" });
  expect(again.status).toBe(409);
});

test("signs in with a password, in any case of the address, and says nothing about which part is wrong", async () => {
  await theOwner();
  const browser = new BrowserJar();
  const signedIn = await signIn(" OWNER@example.com ", PASSWORD, browser);
  expect(signedIn.status).toBe(200);
  expect(signedIn.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/i);
  const projects = await browser.fetch(`${service.origin}/v1/organization/projects`);
  expect(projects.status).toBe(200);
  const wrong = await signIn("owner@example.com", OTHER_PASSWORD);
  const unknown = await signIn("nobody@example.com", PASSWORD);
  expect(wrong).toMatchObject({ status: 401, body: { error: { code: "wrong_password" } } });
  expect(unknown.body.error.message).toBe(wrong.body.error.message);
});

test("bounds how often a person chooses a project, which makes every replica read its keys again", async () => {
  const browser = await theOwner();
  const { project } = await sessionOf(browser, service.origin);
  const { organizationId } = await service.accounts.defaultScope("admin");
  const other = await service.accounts.projects.create(OPERATOR, organizationId, "Other");
  const choose = (id: string) => post(browser, "/console/session/project", { project: id });
  const version = () => service.accounts.run(readAccountsVersion);
  expect((await choose(other.id)).body).toMatchObject({ project: { id: other.id } });
  const before = await version();
  expect((await choose(project.id)).status).toBe(200);
  expect(await version()).toBe(before + 1);
  for (let count = 2; count < 100; count += 1) expect((await choose(project.id)).status).toBe(200);
  expect(await version()).toBe(before + 1);
  expect(await choose(other.id)).toMatchObject({ status: 429, body: { error: { code: "too_many_attempts" } } });
  expect(await sessionOf(browser, service.origin)).toMatchObject({ project: { id: project.id } });
});

test("refuses further attempts for an account after ten failures, even with the right password", async () => {
  await theOwner();
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 10; attempt += 1) {
    statuses.push((await signIn("victim@example.com", `wrong password ${attempt}`)).status);
  }
  expect(new Set(statuses)).toEqual(new Set([401]));
  const refused = await signIn("Victim@example.com", PASSWORD);
  expect(refused).toMatchObject({ status: 429, body: { error: { code: "too_many_attempts" } } });
  // A failure counts until its slice of the window, up to a second, has left it.
  expect(refused.body.error.message).toMatch(/Try again in 1[456] min/);
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  // Others are not affected, and a success counts for nothing.
  for (let attempt = 0; attempt < 12; attempt += 1) {
    expect((await signIn("owner@example.com", PASSWORD)).status).toBe(200);
  }
});

test("changes the password with the current one, and ends the user's other sessions", async () => {
  const browser = await theOwner();
  const other = new BrowserJar();
  await signIn("owner@example.com", PASSWORD, other);
  const wrong = await post(browser, "/console/password", {
    current_password: OTHER_PASSWORD,
    password: OTHER_PASSWORD,
  });
  expect(wrong.status).toBe(401);
  const changed = await post(browser, "/console/password", { current_password: PASSWORD, password: OTHER_PASSWORD });
  expect(changed.status).toBe(200);
  expect(await sessionOf(browser, service.origin)).toMatchObject({ signed_in: true });
  expect(await sessionOf(other, service.origin)).toMatchObject({ signed_in: false });
  expect((await signIn("owner@example.com", PASSWORD)).status).toBe(401);
  await post(browser, "/console/password", { current_password: OTHER_PASSWORD, password: PASSWORD });
});

test("lets one of two requests at once change the password with the same current one", async () => {
  await theOwner();
  const [one, two] = [new BrowserJar(), new BrowserJar()];
  for (const browser of [one, two]) expect((await signIn(OWNER.email, PASSWORD, browser)).status).toBe(200);
  const change = (browser: BrowserJar, password: string) =>
    post(browser, "/console/password", { current_password: PASSWORD, password });
  const answers = await Promise.all([change(one, OTHER_PASSWORD), change(two, `${OTHER_PASSWORD}!`)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  const [winner, changed] = answers[0]?.status === 200 ? [one, OTHER_PASSWORD] : [two, `${OTHER_PASSWORD}!`];
  const back = await post(winner, "/console/password", { current_password: changed, password: PASSWORD });
  expect(back.status).toBe(200);
  owner = Promise.resolve(winner);
});

test("sets a password once with an administrator's link", async () => {
  const administrator = await theOwner();
  const { user } = await sessionOf(administrator, service.origin);
  const link = await post(administrator, `/v1/organization/users/${user.id}/password_link`, {});
  expect(link).toMatchObject({ status: 200, body: { expires_in_seconds: 86_400 } });
  const browser = new BrowserJar();
  const { token } = link.body;
  const set = await post(browser, "/console/password", { token, password: PASSWORD });
  expect(set).toMatchObject({ status: 200, body: { user: { id: user.id } } });
  const again = await post(new BrowserJar(), "/console/password", { token, password: OTHER_PASSWORD });
  expect(again).toMatchObject({ status: 401, body: { error: { code: "invalid_password_link" } } });
  expect((await signIn("owner@example.com", PASSWORD, administrator)).status).toBe(200);
  const missing = await post(browser, "/v1/organization/users/user_missing/password_link", {});
  expect(missing.status).toBe(404);
});

test("refuses passwords and keys where a provider is required, but not the terminal's link", async () => {
  const idp = await startSignOnService({ signOn: "  required: true", provider: RULES });
  try {
    const browser = new BrowserJar();
    expect(await sessionOf(browser, idp.service.origin)).toMatchObject({
      sign_in: { providers: [{ id: "idp", name: "Test provider" }], password: false, key: false },
    });
    const attempt = async (body: unknown) => {
      const response = await browser.fetch(`${idp.service.origin}/console/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    };
    const refused = { status: 403, body: { error: { code: "sign_on_required" } } };
    expect(await attempt({ email: "owner@example.com", password: PASSWORD })).toMatchObject(refused);
    expect(await attempt({ key: idp.service.adminKey })).toMatchObject(refused);
    const { code } = await idp.admin("POST", "/console_sign_in_codes");
    expect(await attempt({ code })).toMatchObject({ status: 200, body: { needs_owner: true } });
    // The first person whom the link's session signs in with the provider becomes the owner.
    idp.provider.people.set("boss", { email: "boss@example.com", name: "Boss", groups: [] });
    idp.provider.signsInAs = "boss";
    const response = await browser.fetch(`${idp.service.origin}/sign-on/idp/start?first_owner=1`, {
      redirect: "manual",
    });
    expect((await browser.open(response.headers.get("location") ?? "")).status).toBe(200);
    expect(await sessionOf(browser, idp.service.origin)).toMatchObject({
      is_admin: true,
      user: { email: "boss@example.com", role: "owner" },
    });
  } finally {
    await idp[Symbol.asyncDispose]();
  }
});

test("offers a password on the sign-in page once somebody has one", async () => {
  const inProcess = await startService({ config: "builtin_models: false\nmodels: []\n" });
  try {
    const { accounts, adminKey } = inProcess;
    const options = async () => (await inProcess.inject({ url: "/console/session" })).json().sign_in;
    expect(await options()).toMatchObject({ password: true, has_passwords: false, key: true });
    const { organizationId } = await accounts.defaultScope("admin");
    const invite = {
      organizationId,
      email: "ada@example.com",
      role: "reader",
      projects: [],
      expiresInSeconds: 60,
    } as const;
    const { token } = await accounts.invites.create({ ...OPERATOR, access: undefined }, invite);
    const user = await accounts.invites.accept(OPERATOR, { token: token.reveal(), email: invite.email, name: "Ada" });
    expect(await options()).toMatchObject({ has_passwords: false });
    const link = await inProcess.inject({
      method: "POST",
      url: `/v1/organization/users/${user.id}/password_link`,
      headers: { authorization: `Bearer ${adminKey}` },
      payload: {},
    });
    const set = await inProcess.inject({
      method: "POST",
      url: "/console/password",
      headers: { "sec-fetch-site": "same-origin" },
      payload: { token: link.json().token, password: PASSWORD },
    });
    expect(set.statusCode).toBe(200);
    expect(await options()).toMatchObject({ has_passwords: true });
  } finally {
    await inProcess.stop();
  }
});
