/** Users and groups over SCIM, as Okta and Entra ID send them. */

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { type AccessWatch, watchAccess } from "../support/accounts/watch-access.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const CONFIG = `
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
limits: { failed_authentications_per_minute: 100000 }
`;
const USER = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

let service: InProcessService;
let watch: AccessWatch;
let organizationId: string;
let scimKey: string;
let count = 0;

beforeAll(async () => {
  service = await startService({ config: CONFIG });
  watch = await watchAccess(service);
  ({ organizationId } = await service.accounts.defaultScope("admin"));
  const answer = await admin("POST", "/admin_api_keys", { name: "Okta", permissions: ["organization.scim.write"] });
  scimKey = answer.value;
});
afterEach(async () => {
  expect(await watch.unaudited()).toEqual([]);
});
afterAll(() => service?.stop());

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

async function scim(method: Method, path: string, payload?: object, headers: Record<string, string> = {}) {
  const {
    statusCode,
    body,
    headers: received,
  } = await service.inject({
    method,
    url: `/scim/v2${path}`,
    headers: {
      authorization: `Bearer ${scimKey}`,
      ...(payload !== undefined && { "content-type": "application/scim+json" }),
      ...headers,
    },
    ...(payload !== undefined && { payload: JSON.stringify(payload) }),
  });
  return { status: statusCode, body: body === "" ? undefined : JSON.parse(body), headers: received };
}

async function admin(method: Method, path: string, payload?: object, key = service.adminKey) {
  const headers = { authorization: `Bearer ${key}` };
  const url = `/v1/organization${path}`;
  return (await service.inject({ method, url, headers, ...(payload && { payload }) })).json();
}

const patch = (path: string, ...Operations: object[]) => scim("PATCH", path, { schemas: [PATCH], Operations });
const filtered = (path: string, filter: string) => scim("GET", `${path}?filter=${encodeURIComponent(filter)}`);

function newEmail(): string {
  count += 1;
  return `person-${count}@example.com`;
}

async function newUser(email = newEmail(), more: object = {}) {
  const { status, body } = await scim("POST", "/Users", { schemas: [USER], userName: email, ...more });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body;
}

/** Creates a key of a user's own in a new project, and adds the user to it. */
async function keyOf(userId: string): Promise<string> {
  const project = await service.accounts.projects.create(OPERATOR, organizationId, "Team");
  await admin("POST", `/projects/${project.id}/users`, { user_id: userId, role: "member" });
  const scope = { organizationId, kind: "project", projectId: project.id, userId } as const;
  const key = await service.accounts.apiKeys.create(OPERATOR, { scope, name: "Laptop", expiresInSeconds: undefined });
  return key.secret.reveal();
}

async function statusOfChat(key: string): Promise<number> {
  const payload = { model: "parrot", messages: [{ role: "user", content: "Hello" }] };
  const headers = { authorization: `Bearer ${key}` };
  return (await service.inject({ method: "POST", url: "/v1/chat/completions", headers, payload })).statusCode;
}

test("provisions, changes, deactivates and reactivates a person as Okta does", async () => {
  const email = newEmail();
  expect((await filtered("/Users", `userName eq "${email}"`)).body).toMatchObject({ totalResults: 0, Resources: [] });
  const user = await newUser(email, {
    name: { givenName: "Ada", familyName: "Lovelace" },
    emails: [{ primary: true, value: email, type: "work" }],
    displayName: "Ada Lovelace",
    locale: "en-US",
    externalId: "00u1",
    groups: [],
    active: true,
    password: "not kept",
  });
  expect(user).toMatchObject({ schemas: [USER], userName: email, externalId: "00u1", active: true, locale: "en-US" });
  expect(user).not.toHaveProperty("password");
  expect(await admin("GET", `/users/${user.id}`)).toMatchObject({ email, name: "Ada Lovelace", role: "reader" });

  const key = await keyOf(user.id);
  expect(await statusOfChat(key)).toBe(200);
  const off = await patch(`/Users/${user.id}`, { op: "replace", value: { active: false } });
  expect([off.status, off.body.active]).toEqual([200, false]);
  expect(await statusOfChat(key)).toBe(401);
  // A replacement that does not mention `active` keeps it.
  const { active: _active, ...rest } = off.body;
  expect((await scim("PUT", `/Users/${user.id}`, { ...rest, title: "Countess" })).body).toMatchObject({
    active: false,
    title: "Countess",
  });
  await patch(`/Users/${user.id}`, { op: "replace", value: { active: true } });
  expect(await statusOfChat(key)).toBe(200);
  expect((await scim("DELETE", `/Users/${user.id}`)).status).toBe(204);
  expect(await statusOfChat(key)).toBe(401);
  expect((await scim("GET", `/Users/${user.id}`)).status).toBe(404);
  expect((await scim("DELETE", `/Users/${user.id}`)).status).toBe(404);
});

test("provisions and changes a person as Entra ID does", async () => {
  const upn = `ada.${count}@tenant.onmicrosoft.example`;
  const email = newEmail();
  const user = await newUser(upn, {
    schemas: [USER, ENTERPRISE],
    externalId: "ada.lovelace",
    emails: [{ primary: true, type: "work", value: email }],
    name: { formatted: "Ada Lovelace", familyName: "Lovelace", givenName: "Ada" },
    [ENTERPRISE]: { employeeNumber: "12", department: "Engines", manager: "" },
  });
  expect(user.schemas).toEqual([USER, ENTERPRISE]);
  expect(await admin("GET", `/users/${user.id}`)).toMatchObject({ email, name: "Ada Lovelace" });
  const { body } = await patch(
    `/Users/${user.id}`,
    { op: "Replace", path: 'emails[type eq "work"].value', value: `new-${email}` },
    { op: "Replace", path: "name.familyName", value: "King" },
    { op: "Add", path: `${ENTERPRISE}:department`, value: "Numbers" },
    { op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "+44" },
    { op: "Replace", path: "displayName", value: "Ada King" },
  );
  expect(body).toMatchObject({ name: { familyName: "King" }, [ENTERPRISE]: { department: "Numbers" } });
  expect(await admin("GET", `/users/${user.id}`)).toMatchObject({ email: `new-${email}`, name: "Ada King" });
  for (const filter of [
    `userName eq "${upn.toUpperCase()}"`,
    'externalId eq "ada.lovelace"',
    `emails[type eq "work"].value eq "new-${email}"`.replace("].value eq", " and value eq").concat("]"),
    `${ENTERPRISE}:department eq "numbers" and active eq true`,
  ]) {
    expect([filter, (await filtered("/Users", filter)).body.Resources]).toEqual([filter, [body]]);
  }
  const disabled = await patch(`/Users/${user.id}`, { op: "Replace", path: "active", value: "False" });
  expect(disabled.body.active).toBe(false);
});

test("manages groups and their members, and with them what people may do", async () => {
  const [ada, bob] = [await newUser(), await newUser()];
  const created = await scim("POST", "/Groups", {
    schemas: [GROUP],
    displayName: "Labs",
    externalId: "g-1",
    members: [{ value: ada.id }],
  });
  expect(created).toMatchObject({ status: 201, body: { displayName: "Labs", members: [{ value: ada.id }] } });
  const { id } = created.body;
  await admin("POST", `/groups/${id}/roles`, { role_id: "role_organization_owner" });
  const rolesOf = async (user: { id: string }) =>
    (await admin("GET", `/users/${user.id}/access`)).roles.map((entry: { role: { name: string } }) => entry.role.name);
  expect(await rolesOf(ada)).toContain("owner");
  expect((await scim("GET", `/Users/${ada.id}`)).body.groups).toMatchObject([{ value: id, display: "Labs" }]);

  // As Entra ID adds and removes members.
  const add = await patch(`/Groups/${id}`, { op: "Add", path: "members", value: [{ $ref: null, value: bob.id }] });
  expect(add.status).toBe(204);
  expect(await rolesOf(bob)).toContain("owner");
  await patch(`/Groups/${id}`, { op: "Remove", path: "members", value: [{ value: ada.id }] });
  expect(await rolesOf(ada)).toEqual(["reader"]);
  // As Okta does.
  await patch(`/Groups/${id}`, { op: "remove", path: `members[value eq "${bob.id}"]` });
  expect(await rolesOf(bob)).toEqual(["reader"]);
  await patch(`/Groups/${id}`, {
    op: "replace",
    value: { id, displayName: "Laboratories", members: [{ value: ada.id }, { value: bob.id }] },
  });
  const { body } = await scim("GET", `/Groups/${id}`);
  expect(body).toMatchObject({ displayName: "Laboratories", externalId: "g-1" });
  expect(body.members.map(({ value }: { value: string }) => value).toSorted()).toEqual([ada.id, bob.id].toSorted());
  const slim = (await scim("GET", "/Groups?excludedAttributes=members&filter=displayName%20eq%20%22laboratories%22"))
    .body;
  expect(slim.Resources).toHaveLength(1);
  expect(slim.Resources[0]).not.toHaveProperty("members");
  await scim("PUT", `/Groups/${id}`, { displayName: "Labs", members: [{ value: bob.id }] });
  expect(await rolesOf(ada)).toEqual(["reader"]);
  expect((await patch(`/Groups/${id}?attributes=members`, { op: "remove", path: "members" })).body).toMatchObject({
    id,
  });
  expect(await rolesOf(bob)).toEqual(["reader"]);

  // Neither evaluates a filter for each member nor reads all members for each of many operations.
  const byType = await patch(`/Groups/${id}`, { op: "remove", path: 'members[type eq "User"]' });
  expect(byType).toMatchObject({ status: 400, body: { scimType: "invalidFilter" } });
  const replacements = Array.from({ length: 11 }, () => ({ op: "replace", path: "members", value: [] }));
  expect(await patch(`/Groups/${id}`, ...replacements)).toMatchObject({
    status: 400,
    body: { scimType: "invalidValue" },
  });

  // The console leaves the group to the client.
  expect(await admin("POST", `/groups/${id}/users`, { user_id: ada.id })).toMatchObject({
    error: { code: "scim_managed" },
  });
  expect((await scim("DELETE", `/Groups/${id}`)).status).toBe(204);
  expect((await scim("GET", `/Groups/${id}`)).status).toBe(404);
});

test("takes over a person who was invited or exists already, and refuses a second one", async () => {
  const project = await service.accounts.projects.create(OPERATOR, organizationId, "Invited");
  const email = newEmail();
  const invite = { email, role: "member", projects: [{ id: project.id, role: "viewer" }] };
  const { id: inviteId } = await admin("POST", "/invites", invite);
  const user = await newUser(email.toUpperCase());
  expect(await admin("GET", `/invites/${inviteId}`)).toMatchObject({ status: "accepted" });
  expect(await admin("GET", `/users/${user.id}`)).toMatchObject({
    role: "member",
    projects: { data: [{ id: project.id, role: "viewer" }] },
  });
  expect(await scim("POST", "/Users", { userName: email })).toMatchObject({
    status: 409,
    body: { scimType: "uniqueness", status: "409" },
  });

  const { token } = await admin("POST", "/invites", { email: newEmail(), role: "reader" });
  const signedIn = await service.accounts.invites.accept(OPERATOR, {
    token,
    email: `person-${count}@example.com`,
    name: "Bob",
  });
  const taken = await newUser("bob.upn", { emails: [{ value: signedIn.email }] });
  expect(taken.id).toBe(signedIn.id);
  const other = await newUser("other.upn", { emails: [{ value: newEmail() }] });
  for (const value of [{ userName: "BOB.UPN" }, { emails: [{ value: signedIn.email }] }]) {
    expect((await patch(`/Users/${other.id}`, { op: "replace", value })).status).toBe(409);
  }
  const invited = await admin("POST", "/invites", { email: newEmail(), role: "reader" });
  const accepted = { token: invited.token, email: invited.email, name: "Carol" };
  const carol = await service.accounts.invites.accept(OPERATOR, accepted);
  await admin("POST", `/users/${carol.id}`, { disabled: true });
  expect((await scim("POST", "/Users", { userName: carol.email })).status).toBe(409);
});

test("leaves out whom an administrator disabled, unless the key may enable people itself", async () => {
  const user = await newUser();
  const enable = { op: "replace", path: "active", value: true };
  const disable = { op: "replace", path: "active", value: false };
  const path = `/Users/${user.id}`;
  const byHand = (disabled: boolean) => admin("POST", `/users/${user.id}`, { disabled });
  const refused = { status: 403, body: { detail: expect.stringContaining("An administrator disabled") } };

  await byHand(true);
  expect(await patch(path, enable)).toMatchObject(refused);
  expect(await scim("PUT", path, { userName: user.userName, active: true })).toMatchObject(refused);
  // Other attributes change, and what the directory says of a disabled person in between counts for nothing.
  expect((await scim("PUT", path, { userName: user.userName, title: "Countess" })).body).toMatchObject({
    active: false,
    title: "Countess",
  });
  expect((await patch(path, disable)).status).toBe(200);
  expect(await patch(path, enable)).toMatchObject(refused);
  await byHand(false);

  await patch(path, disable);
  expect((await patch(path, enable)).body.active).toBe(true);
  // An administrator may confirm what the directory did.
  await patch(path, disable);
  await byHand(true);
  expect(await patch(path, enable)).toMatchObject(refused);

  const enableWith = async (permissions: string[]) => {
    const { value } = await admin("POST", "/admin_api_keys", { name: "Directory", permissions });
    return scim("PATCH", path, { schemas: [PATCH], Operations: [enable] }, { authorization: `Bearer ${value}` });
  };
  const permissions = ["organization.scim.write", "organization.users.write"];
  await admin("POST", `/users/${user.id}`, { role: "member" });
  expect(await enableWith(permissions)).toMatchObject({ status: 403 });
  await admin("POST", `/users/${user.id}`, { role: "reader" });
  expect(await enableWith(permissions)).toMatchObject({ status: 200, body: { active: true } });
});

test("keeps the last owner active", async () => {
  const owner = await newUser();
  await admin("POST", `/users/${owner.id}`, { role: "owner" });
  for (const answer of [
    await patch(`/Users/${owner.id}`, { op: "replace", path: "active", value: false }),
    await scim("PUT", `/Users/${owner.id}`, { ...owner, active: false }),
    await scim("DELETE", `/Users/${owner.id}`),
  ]) {
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining("is the last owner") } });
  }
  expect((await scim("GET", `/Users/${owner.id}`)).body.active).toBe(true);
  const second = await newUser();
  await admin("POST", `/users/${second.id}`, { role: "owner" });
  const results = await Promise.all([
    patch(`/Users/${owner.id}`, { op: "replace", path: "active", value: false }),
    scim("DELETE", `/Users/${second.id}`),
  ]);
  expect(results.filter(({ status }) => status < 300)).toHaveLength(1);
});

test("pages, selects attributes and searches", async () => {
  const group = (await scim("POST", "/Groups", { displayName: "Pages" })).body;
  for (let index = 0; index < 5; index += 1) await newUser(newEmail(), { userType: "Page", displayName: `P${index}` });
  const page = (query: string) => scim("GET", `/Users?filter=${encodeURIComponent('userType eq "Page"')}&${query}`);
  const ids: string[] = [];
  for (const startIndex of [1, 3, 5, 7]) {
    const { body } = await page(`startIndex=${startIndex}&count=2`);
    expect(body).toMatchObject({ totalResults: 5, startIndex });
    expect(body.itemsPerPage).toBe(body.Resources.length);
    ids.push(...body.Resources.map(({ id }: { id: string }) => id));
  }
  expect(new Set(ids).size).toBe(5);
  expect((await page("count=0")).body).toMatchObject({ totalResults: 5, Resources: [] });
  expect((await page("startIndex=-3&count=-1")).body).toMatchObject({ startIndex: 1, Resources: [] });
  const all = (await scim("GET", "/Users?count=3&startIndex=2")).body;
  expect(all.Resources).toHaveLength(3);
  expect(all.totalResults).toBeGreaterThan(5);

  const [first] = (await page("attributes=displayName,emails.value,name.givenName&count=1")).body.Resources;
  expect(Object.keys(first).toSorted()).toEqual(["displayName", "id", "schemas"]);
  const [slim] = (await page("excludedAttributes=meta,id,displayName&count=1")).body.Resources;
  expect(Object.keys(slim).toSorted()).toEqual(["active", "id", "schemas", "userName", "userType"]);

  const search = (await scim("POST", "/.search", { filter: 'displayName sw "P"', attributes: ["displayName"] })).body;
  expect(search.Resources.map(({ displayName }: { displayName: string }) => displayName)).toEqual(
    expect.arrayContaining(["P0", "P4", "Pages"]),
  );
  const last = { filter: 'displayName sw "P"', startIndex: search.totalResults, count: 5 };
  expect((await scim("POST", "/.search", last)).body.Resources).toMatchObject([{ id: group.id }]);
  expect((await scim("POST", "/Groups/.search", { filter: `id eq "${group.id}"` })).body.totalResults).toBe(1);
});

test("refuses changes of an outdated version, and answers 304 for a current one", async () => {
  const user = await newUser();
  const { version } = user.meta;
  const changed = await scim(
    "PATCH",
    `/Users/${user.id}`,
    { Operations: [{ op: "add", path: "title", value: "x" }] },
    { "if-match": version },
  );
  expect(changed.status).toBe(200);
  expect(changed.headers.etag).toBe(changed.body.meta.version);
  expect(changed.body.meta.version).not.toBe(version);
  for (const method of ["PUT", "DELETE"] as const) {
    const body = method === "PUT" ? user : undefined;
    expect(await scim(method, `/Users/${user.id}`, body, { "if-match": version })).toMatchObject({
      status: 412,
      body: { status: "412" },
    });
  }
  const current = { "if-none-match": changed.body.meta.version };
  expect((await scim("GET", `/Users/${user.id}`, undefined, current)).status).toBe(304);
  expect((await scim("GET", `/Users/${user.id}`, undefined, { "if-none-match": version })).status).toBe(200);
  expect((await scim("DELETE", `/Users/${user.id}`, undefined, { "if-match": "*" })).status).toBe(204);
});

test.each<[string, Method, string, object | undefined, number, string | undefined]>([
  ["a user without a name", "POST", "/Users", {}, 400, "invalidValue"],
  ["a user without an address", "POST", "/Users", { userName: "ada" }, 400, "invalidValue"],
  ["an address that is none", "POST", "/Users", { userName: "a", emails: [{ value: "b" }] }, 400, "invalidValue"],
  ["a list as a user", "POST", "/Users", [], 400, "invalidSyntax"],
  ["a group without a name", "POST", "/Groups", {}, 400, "invalidValue"],
  ["an unknown member", "POST", "/Groups", { displayName: "x1", members: [{ value: "none" }] }, 400, "invalidValue"],
  [
    "a group in a group",
    "POST",
    "/Groups",
    { displayName: "x2", members: [{ value: "g", type: "Group" }] },
    400,
    "invalidValue",
  ],
  ["a wrong filter", "GET", "/Users?filter=userName", undefined, 400, "invalidFilter"],
  ["an unknown path", "GET", "/Everything", undefined, 404, undefined],
  ["an unknown schema", "GET", "/Schemas/urn:none", undefined, 404, undefined],
  ["a wrong method", "POST", "/ServiceProviderConfig", {}, 405, undefined],
  ["an unknown user", "PATCH", "/Users/none", { Operations: [{ op: "remove", path: "title" }] }, 404, undefined],
])("refuses %s in SCIM's format", async (_what, method, path, payload, status, scimType) => {
  const answer = await scim(method, path, payload);
  expect(answer.headers["content-type"]).toBe("application/scim+json; charset=utf-8");
  expect(answer.body).toMatchObject({
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    status: String(status),
    detail: expect.any(String),
  });
  expect([answer.status, answer.body.scimType]).toEqual([status, scimType]);
});

test("a key for SCIM allows nothing else, and cannot make keys", async () => {
  const listed = (await admin("GET", "/admin_api_keys")).data.find(({ name }: { name: string }) => name === "Okta");
  expect(listed).toMatchObject({ permissions: ["organization.scim.write"] });
  for (const [method, path] of [
    ["GET", "/users"],
    ["POST", "/admin_api_keys"],
    ["GET", "/api_keys"],
    ["DELETE", `/admin_api_keys/${listed.id}`],
  ] as const) {
    expect([path, await admin(method, path, undefined, scimKey)]).toEqual([
      path,
      { error: expect.objectContaining({ code: "insufficient_permissions" }) },
    ]);
  }
  expect((await admin("GET", "/projects", undefined, scimKey)).data).toEqual([]);
  expect(await statusOfChat(scimKey)).toBe(401);
  const maker = await admin("POST", "/admin_api_keys", {
    name: "Maker",
    permissions: ["organization.admin_keys.write"],
  });
  for (const body of [{ name: "All" }, { name: "More", permissions: ["organization.users.write"] }]) {
    expect(await admin("POST", "/admin_api_keys", body, maker.value)).toMatchObject({
      error: { code: "insufficient_permissions" },
    });
  }
  const same = { name: "Same", permissions: ["organization.admin_keys.write"] };
  expect(await admin("POST", "/admin_api_keys", same, maker.value)).toMatchObject({ permissions: same.permissions });
  const revoked = await admin("POST", "/admin_api_keys", { name: "Gone", permissions: ["organization.scim.write"] });
  await admin("DELETE", `/admin_api_keys/${revoked.id}`);
  const headers = { authorization: `Bearer ${revoked.value}` };
  expect((await service.inject({ url: "/scim/v2/Users", headers })).statusCode).toBe(401);
});

test("a key of a user for SCIM ends with the user's permission", async () => {
  const user = await newUser();
  await admin("POST", `/users/${user.id}`, { role: "owner" });
  const scope = { organizationId, kind: "restricted", userId: user.id } as const;
  const permissions = ["organization.scim.write"] as const;
  const key = await service.accounts.apiKeys.create(OPERATOR, {
    scope,
    name: "Mine",
    expiresInSeconds: undefined,
    permissions,
  });
  const headers = { authorization: `Bearer ${key.secret.reveal()}` };
  const status = async (url: string) => (await service.inject({ url, headers })).statusCode;
  expect([await status("/scim/v2/Users"), await status("/v1/organization/users")]).toEqual([200, 403]);
  const second = await newUser();
  await admin("POST", `/users/${second.id}`, { role: "owner" });
  await admin("POST", `/users/${user.id}`, { role: "member" });
  expect(await status("/scim/v2/Users")).toBe(403);
});

test("records in the audit log what the client changed", async () => {
  const user = await newUser();
  await patch(`/Users/${user.id}`, { op: "replace", path: "active", value: false });
  const { data } = await admin("GET", "/audit_logs?limit=20");
  const ofUser = data.filter((entry: Record<string, { id?: string }>) => entry[String(entry.type)]?.id === user.id);
  // Entries of one transaction have the same time.
  const types = ofUser.map(({ type }: { type: string }) => type).toSorted();
  expect(types).toEqual(["user.added", "user.updated", "user.updated"]);
});

test("says in the audit log that the client took over a group by hand", async () => {
  const group = await admin("POST", "/groups", { name: "Gardeners" });
  for (let time = 0; time < 2; time++) {
    const add = { op: "replace", path: "externalId", value: "gardeners" };
    expect((await patch(`/Groups/${group.id}`, add)).status).toBe(204);
  }
  const { data } = await admin("GET", `/audit_logs?event_types=group.updated&resource_ids=${group.id}`);
  expect(data).toMatchObject([{ "group.updated": { changes_requested: { is_scim_managed: true } } }]);
});

test("gives nobody what a group or user outside the directory may do", async () => {
  const owners = await admin("POST", "/groups", { name: "Owners by hand" });
  await admin("POST", `/groups/${owners.id}/roles`, { role_id: "role_organization_owner" });
  const mallory = await newUser();
  const add = { op: "add", path: "members", value: [{ value: mallory.id }] };
  expect((await patch(`/Groups/${owners.id}`, add)).status).toBe(403);
  const replaced = { schemas: [GROUP], displayName: "Owners by hand", members: [{ value: mallory.id }] };
  expect((await scim("PUT", `/Groups/${owners.id}`, replaced)).status).toBe(403);
  expect((await scim("DELETE", `/Groups/${owners.id}`)).status).toBe(403);
  expect((await admin("GET", `/users/${mallory.id}/roles`)).data).toMatchObject([{ name: "reader" }]);

  const email = newEmail();
  const wanted = { organizationId, email, role: "owner", projects: [], expiresInSeconds: undefined } as const;
  const { token } = await service.accounts.invites.create(OPERATOR, wanted);
  const owner = await service.accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: "Owner" });
  expect((await scim("POST", "/Users", { schemas: [USER], userName: email })).status).toBe(201);
  const renamed = { op: "replace", value: { userName: newEmail(), 'emails[type eq "work"].value': newEmail() } };
  expect((await patch(`/Users/${owner.id}`, renamed)).status).toBe(403);
  expect((await patch(`/Users/${owner.id}`, { op: "replace", value: { displayName: "Ada" } })).status).toBe(200);
  expect((await patch(`/Users/${mallory.id}`, renamed)).status).toBe(200);
});
