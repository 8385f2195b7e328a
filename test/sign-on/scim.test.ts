/** A SCIM client beside sign-on, on two replicas. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { useDatabases } from "../support/databases/databases.ts";
import { BrowserJar } from "../support/service/browser-jar.ts";
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
const PROVIDER = `      create_users: true${RULES}`;
let idp: SignOnService;
let replica: Service;
let origins: string[];
let scimKey: string;
let project: { id: string };
let count = 0;

beforeAll(async () => {
  const { url } = await databases.create("postgresql");
  const environment = { DATABASE_URL: url?.reveal() ?? "", PARLANCE_ENCRYPTION_KEY: "k".repeat(32) };
  idp = await startSignOnService({ provider: PROVIDER, environment });
  replica = await startService({ config: signOnConfig(idp.provider.issuer, { provider: PROVIDER }), environment });
  origins = [idp.service.origin, replica.origin];
  const key = { name: "Directory", permissions: ["organization.scim.write"] };
  scimKey = (await idp.admin("POST", "/admin_api_keys", key)).value;
  [project] = (await idp.admin("GET", "/projects")).data;
});
afterAll(async () => {
  await replica?.stop();
  await idp?.[Symbol.asyncDispose]();
});

/** Sends a request to a replica, by default the first one. */
async function scim(method: string, path: string, body?: unknown, origin = origins[0]) {
  const response = await fetch(`${origin}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${scimKey}`, "content-type": "application/scim+json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const patch = (path: string, ...Operations: object[]) => scim("PATCH", path, { Operations });

/** Lets the provider know a person whom SCIM has not provisioned yet. */
function newPerson(): { subject: string; email: string } {
  count += 1;
  const subject = `scim-${count}`;
  const email = `${subject}@example.com`;
  idp.provider.people.set(subject, { email, name: `Person ${count}`, groups: ["research"] });
  return { subject, email };
}

/** Signs in at the first replica. The browser then uses both, as through a load balancer. */
async function signInAtBoth(subject: string): Promise<BrowserJar> {
  const { browser, page } = await idp.signIn(subject);
  expect(page.status).toBe(200);
  const [, token = ""] = /parlance_session_\d+=([\w-]{43})/.exec(browser.cookies()) ?? [];
  browser.setCookie(`parlance_session_${new URL(replica.origin).port}`, token);
  return browser;
}

const signedIn = (browser: BrowserJar) =>
  Promise.all(origins.map(async (origin) => (await sessionOf(browser, origin)).signed_in));
const chats = (browser: BrowserJar) => Promise.all(origins.map((origin) => chatStatus(browser, origin)));

/** Creates a key of a person's own, as the person does in the console. */
async function keyIn(browser: BrowserJar): Promise<string> {
  const response = await browser.fetch(`${origins[0]}/v1/organization/projects/${project.id}/api_keys`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Laptop" }),
  });
  const { value } = (await response.json()) as { value: string };
  return value;
}

const keyStatuses = (key: string) =>
  Promise.all(
    origins.map(async (origin) => {
      const response = await fetch(`${origin}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      await response.body?.cancel();
      return response.status;
    }),
  );

test.each<[string, (id: string) => Promise<{ status: number }>]>([
  ["deactivated", (id) => patch(`/Users/${id}`, { op: "replace", path: "active", value: "False" })],
  ["removed", (id) => scim("DELETE", `/Users/${id}`)],
])("ends sessions and keys of a %s person on both replicas", async (_what, end) => {
  const { subject, email } = newPerson();
  const { body: user } = await scim("POST", "/Users", { userName: email });
  const browser = await signInAtBoth(subject);
  const key = await keyIn(browser);
  expect([await signedIn(browser), await chats(browser), await keyStatuses(key)]).toEqual([
    [true, true],
    [200, 200],
    [200, 200],
  ]);
  expect((await end(user.id)).status).toBeLessThan(300);
  await eventually(async () => {
    expect([await signedIn(browser), await keyStatuses(key)]).toEqual([
      [false, false],
      [401, 401],
    ]);
  });
});

test("keeps a deactivated person out until the client activates them again", async () => {
  const { subject, email } = newPerson();
  const { body: user } = await scim("POST", "/Users", { userName: email, active: false });
  const refused = await idp.signIn(subject);
  expect(refused.page.status).toBe(403);
  await patch(`/Users/${user.id}`, { op: "replace", value: { active: true } });
  expect((await idp.signIn(subject)).page.status).toBe(200);
});

test("takes what a group allows from a session on both replicas", async () => {
  const { subject, email } = newPerson();
  const person = idp.provider.people.get(subject);
  if (person !== undefined) person.groups = [];
  const { body: user } = await scim("POST", "/Users", { userName: email });
  const { body: group } = await scim("POST", "/Groups", { displayName: "Chats", members: [{ value: user.id }] });
  await idp.admin("POST", `/projects/${project.id}/groups`, { group_id: group.id, role: "member" });
  const browser = await signInAtBoth(subject);
  expect(await chats(browser)).toEqual([200, 200]);
  await patch(`/Groups/${group.id}`, { op: "remove", path: `members[value eq "${user.id}"]` });
  await eventually(async () => expect(await chats(browser)).toEqual([401, 401]));
  await patch(`/Groups/${group.id}`, { op: "add", path: "members", value: [{ value: user.id }] });
  await eventually(async () => expect(await chats(browser)).toEqual([200, 200]));
});

test("makes one user of a person who is provisioned on both replicas and signs in at the same time", async () => {
  for (let round = 0; round < 5; round += 1) {
    const { subject, email } = newPerson();
    idp.provider.signsInAs = subject;
    const browsers = [new BrowserJar(), new BrowserJar()];
    const visits = browsers.map((browser) => browser.open(`${origins[0]}/sign-on/idp/start`));
    const created = origins.map((origin) => scim("POST", "/Users", { userName: email }, origin));
    const statuses = (await Promise.all(created)).map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, 409]);
    expect((await Promise.all(visits)).map(({ status }) => status)).toEqual([200, 200]);
    const { data } = await idp.admin("GET", `/users?emails=${email}`);
    expect(data).toHaveLength(1);
    const { body } = await scim("GET", `/Users?filter=${encodeURIComponent(`userName eq "${email}"`)}`);
    expect(body.Resources.map(({ id }: { id: string }) => id)).toEqual([data[0].id]);
  }
});

test("leaves a person out who is deactivated while signing in", async () => {
  for (let round = 0; round < 5; round += 1) {
    const { subject, email } = newPerson();
    const { body: user } = await scim("POST", "/Users", { userName: email });
    idp.provider.signsInAs = subject;
    const browser = new BrowserJar();
    const [, off] = await Promise.all([
      browser.open(`${origins[0]}/sign-on/idp/start`),
      scim("PATCH", `/Users/${user.id}`, { Operations: [{ op: "replace", path: "active", value: false }] }, origins[1]),
    ]);
    expect(off.status).toBe(200);
    await eventually(async () => expect((await sessionOf(browser, origins[0] ?? "")).signed_in).toBe(false));
  }
});

test("keeps one owner when both replicas deactivate the last two at once", async () => {
  const owners: string[] = [];
  for (let index = 0; index < 2; index += 1) {
    const { body: user } = await scim("POST", "/Users", { userName: newPerson().email });
    await idp.admin("POST", `/users/${user.id}`, { role: "owner" });
    owners.push(user.id);
  }
  const off = { Operations: [{ op: "replace", path: "active", value: false }] };
  const results = await Promise.all(owners.map((id, index) => scim("PATCH", `/Users/${id}`, off, origins[index])));
  expect(results.map(({ status }) => status).toSorted()).toEqual([200, 400]);
});
