/** Keys that users create for themselves, and when these end. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const CONFIG = `
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
limits:
  failed_authentications_per_minute: 100000
  user: { requests_per_minute: 7 }
  user_keys: { max_per_project: 2, max_lifetime_days: 30 }
`;
const ADMIN = { ...OPERATOR, access: undefined };
const DAY_SECONDS = 86_400;

let service: InProcessService;
let organizationId: string;
let project: string;
let count = 0;

beforeAll(async () => {
  service = await startService({ config: CONFIG });
  ({ organizationId } = await service.accounts.defaultScope("admin"));
  project = (await service.accounts.projects.create(OPERATOR, organizationId, "Team")).id;
});
afterAll(() => service?.stop());

/** Adds a user, in the project with `role` unless it is null. Returns the user and a key for the administration. */
async function newUser(role: string | null = "member") {
  count += 1;
  const { accounts } = service;
  const email = `person-${count}@example.com`;
  const projects = role === null ? [] : [{ id: project, role }];
  const wanted = { organizationId, email, role: "reader", projects, expiresInSeconds: undefined } as const;
  const { token } = await accounts.invites.create(ADMIN, wanted);
  const user = await accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: `Person ${count}` });
  const scope = { organizationId, kind: "admin", userId: user.id } as const;
  const key = await accounts.apiKeys.create(OPERATOR, { scope, name: "Session", expiresInSeconds: undefined });
  return { ...user, adminKey: key.secret.reveal() };
}

async function send(method: "GET" | "POST" | "DELETE", key: string, path = "", payload?: object) {
  const url = `/v1/organization/projects/${project}/api_keys${path}`;
  const headers = { authorization: `Bearer ${key}` };
  const answer = await service.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
  return { status: answer.statusCode, body: answer.json() };
}

const newKey = (key: string) => send("POST", key, "", { name: "Laptop", expires_in_seconds: DAY_SECONDS });

async function statusOfChat(key: string): Promise<number> {
  const payload = { model: "parrot", messages: [{ role: "user", content: "Hello" }] };
  const headers = { authorization: `Bearer ${key}`, "user-agent": "curl/8" };
  return (await service.inject({ method: "POST", url: "/v1/chat/completions", headers, payload })).statusCode;
}

test("a member creates, names, sees, rotates and revokes their own keys, within the bounds", async () => {
  const [ada, bob] = [await newUser(), await newUser()];
  const unbounded = await send("POST", ada.adminKey, "", { name: "Forever" });
  expect(unbounded).toMatchObject({ status: 400, body: { error: { param: "expires_in_seconds" } } });
  const { body: created } = await newKey(ada.adminKey);
  expect(created).toMatchObject({ name: "Laptop", owner: { type: "user", user: { id: ada.id, email: ada.email } } });
  expect(await statusOfChat(created.value)).toBe(200);
  expect((await send("GET", ada.adminKey)).body.data.map(({ id }: { id: string }) => id)).toEqual([created.id]);
  expect((await send("GET", bob.adminKey)).body.data).toEqual([]);
  expect((await send("GET", bob.adminKey, `/${created.id}`)).status).toBe(404);
  expect((await send("DELETE", bob.adminKey, `/${created.id}`)).status).toBe(404);
  expect((await send("POST", ada.adminKey, `/${created.id}`, { name: "Desk" })).body).toMatchObject({ name: "Desk" });
  expect((await send("POST", ada.adminKey, `/${created.id}`, { expires_in_seconds: null })).status).toBe(400);

  const { body: rotated } = await send("POST", ada.adminKey, `/${created.id}/rotate`, { overlap_seconds: 3600 });
  expect(rotated).toMatchObject({ name: "Desk", owner: { user: { id: ada.id } } });
  expect(await statusOfChat(created.value)).toBe(200);
  expect(await statusOfChat(rotated.value)).toBe(200);
  const old = (await send("GET", ada.adminKey, `/${created.id}`)).body;
  expect(old.expires_at).toBeLessThan(created.expires_at);
  expect(await newKey(ada.adminKey)).toMatchObject({ status: 400, body: { error: { code: "too_many_keys" } } });
  // One key more than allowed while two overlap, and no further one.
  const again = () => send("POST", ada.adminKey, `/${rotated.id}/rotate`, { overlap_seconds: 3600 });
  expect((await again()).status).toBe(200);
  expect(await again()).toMatchObject({ status: 400, body: { error: { code: "too_many_keys" } } });
  const { body: replaced } = await send("POST", ada.adminKey, `/${created.id}/rotate`, { overlap_seconds: 0 });
  expect(await statusOfChat(created.value)).toBe(401);
  expect(await statusOfChat(replaced.value)).toBe(200);
  expect((await send("DELETE", ada.adminKey, `/${replaced.id}`)).status).toBe(200);
  expect(await statusOfChat(replaced.value)).toBe(401);
  // Nobody gets the secret of another person's key.
  expect((await send("POST", service.adminKey, `/${rotated.id}/rotate`)).status).toBe(403);
});

/** Signs a user in with a password, which makes the key with which the session calls models. */
async function signIn(userId: string): Promise<void> {
  const url = `/v1/organization/users/${userId}/password_link`;
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const { token } = (await service.inject({ method: "POST", url, headers, payload: {} })).json();
  const session = await service.inject({
    method: "POST",
    url: "/console/password",
    headers: { "sec-fetch-site": "same-origin" },
    payload: { token, password: "correct horse battery" },
  });
  expect(session.statusCode).toBe(200);
}

test("the key of a session gets no secret, and no expiry", async () => {
  const ada = await newUser();
  await signIn(ada.id);
  const [key] = (await send("GET", ada.adminKey)).body.data;
  expect(key).toMatchObject({ name: "Signed in", expires_at: null });
  for (const [path, body] of [
    ["/rotate", { overlap_seconds: 0 }],
    ["/rotate", { overlap_seconds: 3600 }],
    ["", { expires_in_seconds: 60 }],
  ] as const) {
    expect(await send("POST", ada.adminKey, `/${key.id}${path}`, body)).toMatchObject({
      status: 400,
      body: { error: { code: "key_without_secret" } },
    });
  }
  expect((await send("GET", ada.adminKey)).body.data).toEqual([expect.objectContaining({ id: key.id })]);
});

test("a rotation of a key from before the bounds keeps to them", async () => {
  const ada = await newUser();
  const scope = { organizationId, kind: "project", projectId: project, userId: ada.id } as const;
  const { body: key } = await newKey(ada.adminKey);
  await service.accounts.run((executor) =>
    executor.updateTable("apiKeys").set({ expiresAt: null }).where("id", "=", key.id).execute(),
  );
  const { body: rotated } = await send("POST", ada.adminKey, `/${key.id}/rotate`, { overlap_seconds: 0 });
  expect(rotated.expires_at - rotated.created_at).toBe(30 * DAY_SECONDS);
  expect(await service.accounts.apiKeys.retrieve(scope, rotated.id)).toMatchObject({ name: "Laptop" });
});

test("shows when and from where a key was last used", async () => {
  const ada = await newUser();
  const { body: created } = await newKey(ada.adminKey);
  expect(created).toMatchObject({ last_used_at: null, last_used_address: null, last_used_client: null });
  await statusOfChat(created.value);
  await service.accounts.lastUsed.flush();
  expect((await send("GET", ada.adminKey, `/${created.id}`)).body).toMatchObject({
    last_used_at: expect.any(Number),
    last_used_address: "127.0.0.1",
    last_used_client: "curl/8",
  });
  const user = await service.accounts.users.retrieve({ organizationId, id: ada.id });
  expect(user.lastActiveAt).toEqual(expect.any(Number));
});

test("an erased key stays without the address of a use that is written later", async () => {
  const ada = await newUser();
  const { body: created } = await newKey(ada.adminKey);
  await statusOfChat(created.value);
  const erased = await service.inject({
    method: "POST",
    url: `/v1/organization/users/${ada.id}/erase`,
    headers: { authorization: `Bearer ${service.adminKey}` },
  });
  expect(erased.statusCode).toBe(200);
  await service.accounts.lastUsed.flush();
  const row = await service.accounts.run((executor) =>
    executor.selectFrom("apiKeys").selectAll().where("id", "=", created.id).executeTakeFirstOrThrow(),
  );
  expect(row).toMatchObject({ name: "Erased", lastUsedAddress: null, lastUsedClient: null });
});

test("a user's keys end when the user is disabled, leaves the project, a group or the organization", async () => {
  const { accounts } = service;
  const ada = await newUser();
  const { value: key } = (await newKey(ada.adminKey)).body;
  const reference = { organizationId, id: ada.id };
  await accounts.users.update(ADMIN, reference, { isDisabled: true });
  expect(await statusOfChat(key)).toBe(401);
  expect((await send("GET", ada.adminKey)).status).toBe(401);
  await accounts.users.update(ADMIN, reference, { isDisabled: false });
  expect(await statusOfChat(key)).toBe(200);

  const projectReference = { organizationId, id: project };
  await accounts.projectMembers.removeUser(ADMIN, projectReference, ada.id);
  expect(await statusOfChat(key)).toBe(401);
  await accounts.projectMembers.addUser(ADMIN, projectReference, { id: ada.id }, "member");
  // Revoked keys do not come back.
  expect(await statusOfChat(key)).toBe(401);
  const { value: second } = (await newKey(ada.adminKey)).body;
  await accounts.users.remove(ADMIN, reference);
  expect(await statusOfChat(second)).toBe(401);

  const bob = await newUser(null);
  const group = await accounts.groups.create(ADMIN, organizationId, "Research");
  await accounts.projectMembers.putGroup(ADMIN, projectReference, group.id, "member");
  expect((await newKey(bob.adminKey)).status).toBe(403);
  await accounts.groups.addMember(ADMIN, { organizationId, id: group.id }, bob.id);
  const { value: third } = (await newKey(bob.adminKey)).body;
  expect(await statusOfChat(third)).toBe(200);
  await accounts.groups.removeMember(ADMIN, { organizationId, id: group.id }, bob.id);
  expect(await statusOfChat(third)).toBe(401);
});

test("the audit log names the user who made a change", async () => {
  const ada = await newUser();
  const { body: created } = await newKey(ada.adminKey);
  const answer = await service.inject({
    url: `/v1/organization/audit_logs?actor_ids[]=${ada.id}`,
    headers: { authorization: `Bearer ${service.adminKey}` },
  });
  expect(answer.json().data).toMatchObject([
    { type: "api_key.created", actor: { api_key: { user: { id: ada.id } } }, "api_key.created": { id: created.id } },
  ]);
});

test("counts the requests of a user over all keys", async () => {
  const [ada, bob] = [await newUser(), await newUser()];
  const keys = [(await newKey(ada.adminKey)).body.value, (await newKey(ada.adminKey)).body.value];
  const statuses = await Promise.all(Array.from({ length: 10 }, (_each, index) => statusOfChat(keys[index % 2])));
  expect(statuses.filter((status) => status === 200)).toHaveLength(7);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
  expect(await statusOfChat((await newKey(bob.adminKey)).body.value)).toBe(200);
});

test("nobody gives more than they have", async () => {
  const { accounts } = service;
  const manager = await newUser();
  const role = await accounts.roles.create(
    ADMIN,
    { organizationId, projectId: undefined },
    {
      name: "People",
      permissions: ["organization.users.read", "organization.users.write", "organization.roles.write"],
    },
  );
  await accounts.roleAssignments.assign(
    ADMIN,
    { organizationId, projectId: undefined },
    { type: "user", id: manager.id },
    role.id,
  );
  const owner = await newUser();
  await accounts.users.update(ADMIN, { organizationId, id: owner.id }, { role: "owner" });
  const post = async (path: string, payload: object) => {
    const headers = { authorization: `Bearer ${manager.adminKey}` };
    const url = `/v1/organization${path}`;
    return (await service.inject({ method: "POST", url, headers, payload })).statusCode;
  };
  expect(await post("/invites", { email: "new@example.com", role: "owner" })).toBe(403);
  expect(await post("/invites", { email: "new@example.com", role: "reader" })).toBe(200);
  expect(await post(`/users/${manager.id}`, { role: "owner" })).toBe(403);
  expect(await post(`/users/${owner.id}`, { role: "reader" })).toBe(403);
  expect(await post(`/users/${owner.id}`, { disabled: true })).toBe(403);
  expect(await post(`/users/${manager.id}/roles`, { role_id: "role_organization_owner" })).toBe(403);
  expect(await post("/roles", { role_name: "Root", permissions: ["organization.admin_keys.write"] })).toBe(403);
  expect(await post("/roles", { role_name: "Directory", permissions: ["organization.users.read"] })).toBe(200);
  expect(await post(`/roles/${role.id}`, { permissions: ["organization.write"] })).toBe(403);
  expect(await post(`/users/${owner.id}/password_link`, {})).toBe(403);
  expect(await post("/admin_api_keys", { name: "Mine" })).toBe(403);
});
