/** Nobody gives more than they have: credentials that a key of few permissions asks for. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { ALL_PERMISSIONS, type RolePermission } from "../../src/contracts/permissions.ts";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { builtInRole, PROJECT_ROLE_IDS } from "../../src/features/accounts/roles/built-in-roles.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const CONFIG = `
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
limits: { failed_authentications_per_minute: 100000 }
`;
const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
const PASSWORD = "correct horse battery";

let service: InProcessService;
let organizationId: string;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  ({ organizationId } = await service.accounts.defaultScope("admin"));
});
afterAll(() => service?.stop());

async function send(method: "GET" | "POST" | "DELETE", url: string, headers: Record<string, string>, payload?: object) {
  const answer = await service.inject({ method, url, headers, ...(payload && { payload }) });
  const cookie = String(answer.headers["set-cookie"] ?? "").split(";")[0] ?? "";
  return { status: answer.statusCode, body: answer.json(), cookie };
}

const post = (key: string, path: string, payload?: object) =>
  send("POST", `/v1/organization${path}`, { authorization: `Bearer ${key}` }, payload);

/** Creates an admin key that has only these permissions, of a user if one is named. */
async function restrictedKey(permissions: readonly RolePermission[], userId?: string): Promise<string> {
  const scope = { organizationId, kind: "restricted", ...(userId !== undefined && { userId }) } as const;
  const wanted = { scope, name: "Restricted", expiresInSeconds: undefined, permissions };
  return (await service.accounts.apiKeys.create(OPERATOR, wanted)).secret.reveal();
}

const get = (key: string, url: string) => send("GET", url, { authorization: `Bearer ${key}` });

const signInWith = (key: string) => send("POST", "/console/session", SAME_ORIGIN, { key });

async function newUser(role: "owner" | "reader", projects: { id: string; role: string }[] = []) {
  const email = `${role}-${Math.random().toString(36).slice(2)}@example.com`;
  const wanted = { organizationId, email, role, projects, expiresInSeconds: undefined };
  const { token } = await service.accounts.invites.create(OPERATOR, wanted);
  return service.accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: role });
}

test("no key makes the first owner unless it may do everything", async () => {
  const owner = { email: "mallory@example.com", name: "Mallory", password: PASSWORD };
  for (const permission of ALL_PERMISSIONS) {
    const { cookie, body } = await signInWith(await restrictedKey([permission]));
    expect([permission, body.is_admin, body.needs_owner]).toEqual([
      permission,
      permission === "organization.write",
      false,
    ]);
    const answer = await send("POST", "/console/first_owner", { ...SAME_ORIGIN, cookie }, owner);
    expect([permission, answer.status]).toEqual([permission, 403]);
  }
  const { cookie, body } = await signInWith(service.adminKey);
  expect(body).toMatchObject({ is_admin: true, needs_owner: true });
  expect(await send("POST", "/console/first_owner", { ...SAME_ORIGIN, cookie }, owner)).toMatchObject({
    status: 200,
    body: { user: { role: "owner" } },
  });
});

test("the session of a restricted key has the permissions of the key, and no others", async () => {
  const { cookie } = await signInWith(await restrictedKey(["organization.users.read"]));
  expect((await send("GET", "/v1/organization/users", { ...SAME_ORIGIN, cookie })).status).toBe(200);
  expect((await send("GET", "/v1/organization/roles", { ...SAME_ORIGIN, cookie })).status).toBe(403);
});

test("only the operator creates sign-in codes: with one, an owner would have a right that outlasts the owner", async () => {
  const { accounts } = service;
  const { id: userId } = await newUser("owner");
  const scope = { organizationId, kind: "admin", userId } as const;
  const ofOwner = await accounts.apiKeys.create(OPERATOR, { scope, name: "Own", expiresInSeconds: undefined });
  const everything = await restrictedKey([...ALL_PERMISSIONS]);
  for (const key of [ofOwner.secret.reveal(), everything, await restrictedKey([...ALL_PERMISSIONS], userId)]) {
    const answer = await post(key, "/console_sign_in_codes");
    expect(answer).toMatchObject({ status: 403, body: { error: { code: "insufficient_permissions" } } });
    expect(answer.body.error.message).toContain("belongs to no user");
  }
  expect((await post(service.adminKey, "/console_sign_in_codes")).status).toBe(200);
});

test("no session creates a sign-in code, with which it would go on without end", async () => {
  const { code } = (await post(service.adminKey, "/console_sign_in_codes")).body;
  const sessions = [await signInWith(service.adminKey), await send("POST", "/console/session", SAME_ORIGIN, { code })];
  for (const { cookie } of sessions) {
    const headers = { ...SAME_ORIGIN, cookie };
    const refusal = await send("POST", "/v1/organization/console_sign_in_codes", headers);
    expect(refusal).toMatchObject({ status: 403, body: { error: { code: "insufficient_permissions" } } });
    expect(refusal.body.error.message).toContain("parlance console");
  }
});

test("the audit log has an entry for each sign-in code, which that of its sign-in names", async () => {
  const { body } = await post(service.adminKey, "/console_sign_in_codes");
  await send("POST", "/console/session", SAME_ORIGIN, { code: body.code });
  const page = { limit: 2, order: "desc" } as const;
  const types = ["console_sign_in_code.created", "login.succeeded"] as const;
  const read = async (type: (typeof types)[number]) =>
    (await service.accounts.auditTrail.list(organizationId, { types: [type] }, page)).entries[0];
  const [created, login] = [await read(types[0]), await read(types[1])];
  expect(created).toMatchObject({ actorKeyId: expect.stringMatching(/^key_/), actorUserId: null });
  expect(login?.details).toMatchObject({ method: "link", codeId: created?.resourceId });
});

test("a restricted key of an owner gives the owner no credential with more than the key has", async () => {
  const { id } = await newUser("owner");
  const key = await restrictedKey(["organization.admin_keys.write", "organization.users.write"], id);
  expect((await post(key, "/admin_api_keys", { name: "All of the owner" })).status).toBe(403);
  expect((await post(key, `/users/${id}/password_link`)).status).toBe(403);
  const permissions = ["organization.users.write"];
  expect((await post(key, "/admin_api_keys", { name: "Fewer", permissions })).status).toBe(200);
});

test("a restricted key is not the user to whom it belongs", async () => {
  const { id: project } = await service.accounts.projects.create(OPERATOR, organizationId, "Left");
  const user = await newUser("reader", [{ id: project, role: "owner" }]);
  const owner = await newUser("owner");
  const remaining = await newUser("owner");
  const [mine, member] = [`/users/${user.id}`, `/projects/${project}/users/${user.id}`];
  const attempts: ["GET" | "POST" | "DELETE", string, string, readonly RolePermission[], object?][] = [
    ["GET", mine, user.id, ["project.read"]],
    ["GET", `${mine}/export`, user.id, ["project.read"]],
    ["GET", `${mine}/access`, user.id, ["project.read"]],
    ["GET", `${mine}/roles`, user.id, ["project.read"]],
    ["GET", `${mine}/budgets`, user.id, ["project.read"]],
    ["DELETE", member, user.id, ["project.read"]],
    ["DELETE", mine, user.id, ["project.read"]],
    // With the permission for others, it still has less than the user.
    ["DELETE", member, user.id, ["project.read", "project.members.write"]],
    ["GET", `/users/${owner.id}/export`, owner.id, ["organization.users.data"]],
    ["POST", `/users/${owner.id}/erase`, owner.id, ["organization.users.data"]],
    ["POST", `/users/${owner.id}`, owner.id, ["organization.users.write"], { name: "Renamed" }],
    ["DELETE", `/users/${owner.id}`, owner.id, ["organization.users.write"]],
  ];
  for (const [method, path, userId, permissions, body] of attempts) {
    const authorization = `Bearer ${await restrictedKey(permissions, userId)}`;
    const { status } = await send(method, `/v1/organization${path}`, { authorization }, body);
    expect([method, path, status]).toEqual([method, path, 403]);
  }
  // The console's session of such a key is no more than the key.
  const { cookie } = await signInWith(await restrictedKey(["project.read"], user.id));
  expect((await send("DELETE", `/v1/organization${mine}`, { ...SAME_ORIGIN, cookie })).status).toBe(403);
  const scope = { organizationId, kind: "admin", userId: user.id } as const;
  const wanted = { scope, name: "All of the user", expiresInSeconds: undefined };
  const authorization = `Bearer ${(await service.accounts.apiKeys.create(OPERATOR, wanted)).secret.reveal()}`;
  for (const [method, path] of [
    ["GET", mine],
    ["DELETE", member],
    ["DELETE", mine],
  ] as const) {
    expect([path, (await send(method, `/v1/organization${path}`, { authorization })).status]).toEqual([path, 200]);
  }
  await service.accounts.users.remove(OPERATOR, { organizationId, id: remaining.id });
});

test("a restricted key sees requests of its user only with the permission for usage", async () => {
  const { id: project } = await service.accounts.projects.create(OPERATOR, organizationId, "Seen");
  const user = await newUser("reader", [{ id: project, role: "owner" }]);
  const scope = { organizationId, kind: "project", projectId: project, userId: user.id } as const;
  const key = await service.accounts.apiKeys.create(OPERATOR, { scope, name: "Laptop", expiresInSeconds: undefined });
  const authorization = `Bearer ${key.secret.reveal()}`;
  const body = { model: "parrot", messages: [{ role: "user", content: "Hello" }] };
  expect((await send("POST", "/v1/chat/completions", { authorization }, body)).status).toBe(200);
  const requestsFor = async (permissions: readonly RolePermission[]) =>
    (await get(await restrictedKey(permissions, user.id), "/v1/organization/requests")).body.data.length;
  expect([await requestsFor(["project.usage.read"]), await requestsFor(["project.read"])]).toEqual([1, 0]);
});

test("a right to manage keys is not the right to call models with them", async () => {
  const { id: project } = await service.accounts.projects.create(OPERATOR, organizationId, "Team");
  const { body: account } = await post(service.adminKey, `/projects/${project}/service_accounts`, { name: "Nightly" });
  const keys = `/projects/${project}/api_keys`;
  const manager = await restrictedKey(["project.keys.write", "project.own_keys.write"]);
  expect((await post(manager, keys, { name: "Mine" })).status).toBe(403);
  expect((await post(manager, `${keys}/${account.api_key.id}/rotate`)).status).toBe(403);
  expect((await post(manager, `${keys}/${account.api_key.id}`, { expires_in_seconds: null })).status).toBe(403);
  expect((await post(manager, `/projects/${project}/service_accounts`, { name: "Another" })).status).toBe(403);
  expect((await post(manager, `/projects/${project}/service_accounts/${account.id}/api_keys`)).status).toBe(403);
  const withoutKey = { name: "Without a key", create_service_account_only: true };
  expect((await post(manager, `/projects/${project}/service_accounts`, withoutKey)).status).toBe(200);
  const { id: userId } = await newUser("reader", [{ id: project, role: "member" }]);
  // What a key of the project may do without rules of its own.
  const rights = [
    "project.inference",
    "project.prompts.write",
    "project.skills.write",
    "project.webhooks.write",
  ] as const;
  const member = await restrictedKey(["project.own_keys.write", ...rights], userId);
  expect((await post(member, keys, { name: "Mine" })).status).toBe(200);
});

test("nobody renames a group that gives more than they have", async () => {
  const { body: group } = await post(service.adminKey, "/groups", { name: "Owners" });
  await post(service.adminKey, `/groups/${group.id}/roles`, { role_id: "role_organization_owner" });
  const key = await restrictedKey(["organization.groups.write"]);
  expect((await post(key, `/groups/${group.id}`, { name: "a/ds" })).status).toBe(403);
  const { body: plain } = await post(key, "/groups", { name: "Chess" });
  expect((await post(key, `/groups/${plain.id}`, { name: "Go" })).status).toBe(200);
  const { id: project } = await service.accounts.projects.create(OPERATOR, organizationId, "Another");
  await post(service.adminKey, `/projects/${project}/groups`, { group_id: plain.id, role: PROJECT_ROLE_IDS.viewer });
  expect((await post(key, `/groups/${plain.id}`, { name: "Shogi" })).status).toBe(403);
});

/** Entries of the audit log about the roles of a user or group, newest first. */
async function roleEntries(principalId: string) {
  const { body } = await get(service.adminKey, "/v1/organization/audit_logs?limit=100");
  const entries: { type: string; project?: { id: string }; [type: string]: unknown }[] = body.data;
  return entries.flatMap((entry) => {
    const { data } = entry[entry.type] as { data?: { principal_id: string; role_id: string } };
    return data?.principal_id === principalId
      ? [{ type: entry.type, role: data.role_id, project: entry.project?.id }]
      : [];
  });
}

test.each(["user", "group"] as const)(
  "whoever removes a %s from a project takes no more than they have",
  async (type) => {
    const { id: project } = await service.accounts.projects.create(OPERATOR, organizationId, `Team of the ${type}`);
    const { roleAssignments, projectMembers, groups } = service.accounts;
    const { viewer, owner } = PROJECT_ROLE_IDS;
    const scope = { organizationId, projectId: project };
    const member =
      type === "user"
        ? await newUser("reader", [{ id: project, role: "viewer" }])
        : await groups.create(OPERATOR, organizationId, "Team");
    const { id } = member;
    const reference = { organizationId, id: project };
    if (type === "group") await projectMembers.putGroup(OPERATOR, reference, id, viewer);
    await roleAssignments.assign(OPERATOR, scope, { type, id }, owner);
    const keeper = await restrictedKey([...(builtInRole(viewer)?.permissions ?? []), "project.members.write"]);
    const remove = async (path: string, key = keeper) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await service.inject({ method: "DELETE", url: path, headers })).statusCode;
    };
    const membership = `/v1/organization/projects/${project}/${type}s/${id}`;
    expect(await remove(`/v1/projects/${project}/${type}s/${id}/roles/${owner}`)).toBe(403);
    expect(await remove(membership)).toBe(403);
    expect(await roleAssignments.list(scope, { type, id })).toHaveLength(2);

    const before = (await roleEntries(id)).length;
    expect(await remove(membership, service.adminKey)).toBe(200);
    const taken = (await roleEntries(id)).slice(0, -before);
    const deleted = { type: "role.assignment.deleted", project };
    expect(taken).toHaveLength(2);
    expect(taken).toEqual(expect.arrayContaining([viewer, owner].map((role) => ({ ...deleted, role }))));
  },
);

test("a member with more roles than that of the membership leaves the project", async () => {
  const { id: project } = await service.accounts.projects.create(OPERATOR, organizationId, "Left");
  const user = await newUser("reader", [{ id: project, role: "viewer" }]);
  const scope = { organizationId, projectId: project };
  await service.accounts.roleAssignments.assign(OPERATOR, scope, { type: "user", id: user.id }, PROJECT_ROLE_IDS.owner);
  const author = { ...OPERATOR, userId: user.id, access: { organization: [], projects: {} } };
  await service.accounts.projectMembers.removeUser(author, { organizationId, id: project }, user.id);
  expect((await roleEntries(user.id)).slice(0, 2).map(({ type }) => type)).toEqual([
    "role.assignment.deleted",
    "role.assignment.deleted",
  ]);
});

test("the audit log names each role that ends with its user, group or role", async () => {
  const { accounts } = service;
  const { id: project } = await accounts.projects.create(OPERATOR, organizationId, "Ends");
  const inProject = { organizationId, projectId: project };
  const role = { name: "Auditors", permissions: ["project.read"] };
  const { id: custom } = await accounts.roles.create(OPERATOR, inProject, role);
  const user = await newUser("reader", [{ id: project, role: "viewer" }]);
  const group = await accounts.groups.create(OPERATOR, organizationId, "Ends");
  await accounts.projectMembers.putGroup(OPERATOR, { organizationId, id: project }, group.id, "member");
  const principals = [
    { type: "user", id: user.id },
    { type: "group", id: group.id },
  ] as const;
  for (const principal of principals) {
    await accounts.roleAssignments.assign(OPERATOR, inProject, principal, custom);
    const inOrganization = { organizationId, projectId: undefined };
    const ofAll = { name: `For the ${principal.type}`, permissions: ["organization.read"] };
    const { id } = await accounts.roles.create(OPERATOR, inOrganization, ofAll);
    await accounts.roleAssignments.assign(OPERATOR, inOrganization, principal, id);
  }
  await accounts.roles.delete(OPERATOR, inProject, custom);
  await accounts.users.remove(OPERATOR, { organizationId, id: user.id });
  await accounts.groups.delete(OPERATOR, { organizationId, id: group.id });
  for (const { id } of principals) {
    const entries = await roleEntries(id);
    const of = (wanted: string) =>
      entries
        .filter(({ type }) => type === `role.assignment.${wanted}`)
        .map((entry) => `${entry.role} ${entry.project}`);
    expect(of("created")).toHaveLength(3);
    expect(of("deleted").toSorted()).toEqual(of("created").toSorted());
  }
});

test("an invite ends with its author, or with the author's role", async () => {
  const { accounts } = service;
  const inviteBy = async (author: Parameters<typeof accounts.invites.create>[0]) => {
    const email = `invited-${Math.random().toString(36).slice(2)}@example.com`;
    const wanted = { organizationId, email, role: "owner", projects: [], expiresInSeconds: undefined } as const;
    const { token } = await accounts.invites.create(author, wanted);
    return () => accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: "Invited" });
  };
  const [gone, demoted, active] = [await newUser("owner"), await newUser("owner"), await newUser("owner")];
  const byGone = await inviteBy({ ...OPERATOR, userId: gone.id });
  const byDemoted = await inviteBy({ ...OPERATOR, userId: demoted.id });
  const byActive = await inviteBy({ ...OPERATOR, userId: active.id });
  const scope = { organizationId, kind: "admin" } as const;
  const { key } = await accounts.apiKeys.create(OPERATOR, { scope, name: "Admin", expiresInSeconds: undefined });
  const byKey = await inviteBy({ ...OPERATOR, keyId: key.id });
  const byRevokedKey = await inviteBy({ ...OPERATOR, keyId: key.id });
  const { key: expiring } = await accounts.apiKeys.create(OPERATOR, { scope, name: "Admin", expiresInSeconds: 60 });
  const byExpiredKey = await inviteBy({ ...OPERATOR, keyId: expiring.id });
  const ofOwner = { ...scope, userId: active.id };
  const { key: own } = await accounts.apiKeys.create(OPERATOR, { scope: ofOwner, name: "Own", expiresInSeconds: 60 });
  const byExpiredKeyOfUser = await inviteBy({ ...OPERATOR, userId: active.id, keyId: own.id });
  const bySession = await inviteBy({ ...OPERATOR, userId: active.id, keyId: "session_of_the_owner" });
  await accounts.run(async (executor) => {
    const ids = [expiring.id, own.id];
    await executor.updateTable("apiKeys").set({ expiresAt: Date.now() }).where("id", "in", ids).execute();
  });
  expect((await byKey()).role).toBe("owner");
  await accounts.apiKeys.revoke(OPERATOR, scope, key.id);
  await accounts.users.remove(OPERATOR, { organizationId, id: gone.id });
  await accounts.users.update(OPERATOR, { organizationId, id: demoted.id }, { role: "member" });
  for (const accept of [byGone, byDemoted, byRevokedKey, byExpiredKey, byExpiredKeyOfUser]) {
    await expect(accept()).rejects.toMatchObject({ code: "invite_ended" });
  }
  expect((await byActive()).role).toBe("owner");
  expect((await bySession()).role).toBe("owner");
});

test("readiness names models only to keys that may read the organization", async () => {
  const read = async (permission: RolePermission) =>
    (await get(await restrictedKey([permission]), "/health/ready")).body;
  expect(await read("organization.scim.write")).toEqual({ status: "ready", database: { state: "up" } });
  expect(await read("organization.read")).toMatchObject({
    models: expect.arrayContaining([expect.objectContaining({ id: "parrot" })]),
  });
});

test("a stream of requests ends once its caller may see fewer, without showing one more", async () => {
  const { accounts } = service;
  const { id: project } = await accounts.projects.create(OPERATOR, organizationId, "Followed");
  const { body: account } = await post(service.adminKey, `/projects/${project}/service_accounts`, { name: "Bot" });
  const chat = async () => {
    const body = { model: "parrot", messages: [{ role: "user", content: "Hello" }] };
    const { body: answer } = await send(
      "POST",
      "/v1/chat/completions",
      { authorization: `Bearer ${account.api_key.value}` },
      body,
    );
    expect(answer.object).toBe("chat.completion");
  };
  const { id: userId } = await newUser("reader", [{ id: project, role: "viewer" }]);
  const key = await restrictedKey([...ALL_PERMISSIONS], userId);
  const response = await fetch(`${service.origin}/v1/organization/requests?stream=true`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  await chat();
  while (!text.includes("data: ")) text += (await reader.read()).value;
  // A change of others ends no stream: it goes on to the next request.
  await newUser("reader", [{ id: project, role: "viewer" }]);
  await chat();
  while (text.split("data: ").length < 3) text += (await reader.read()).value;
  await accounts.projectMembers.removeUser(OPERATOR, { organizationId, id: project }, userId);
  await chat();
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  expect(text.split("data: ")).toHaveLength(3);
});

test("viewers of a project rate no requests, and owners do", async () => {
  const { id: project } = await service.accounts.projects.create(OPERATOR, organizationId, "Rated");
  const { body: account } = await post(service.adminKey, `/projects/${project}/service_accounts`, { name: "Bot" });
  const body = { model: "parrot", messages: [{ role: "user", content: "Hello" }] };
  const authorization = `Bearer ${account.api_key.value}`;
  expect((await send("POST", "/v1/chat/completions", { authorization }, body)).status).toBe(200);
  const [request] = (await get(account.api_key.value, "/v1/organization/requests")).body.data;
  const path = `/requests/${request.id}/feedback`;
  const everything = [...ALL_PERMISSIONS];
  const viewer = await restrictedKey(everything, (await newUser("reader", [{ id: project, role: "viewer" }])).id);
  const owner = await restrictedKey(everything, (await newUser("reader", [{ id: project, role: "owner" }])).id);
  expect((await get(viewer, `/v1/organization/requests/${request.id}`)).status).toBe(200);
  expect(await post(viewer, path, { score: 0 })).toMatchObject({
    status: 403,
    body: { error: { code: "insufficient_permissions" } },
  });
  expect((await post(await restrictedKey(["project.usage.read"]), path, { score: 0 })).status).toBe(403);
  expect((await post(owner, path, { score: 1 })).status).toBe(200);
  expect((await post(account.api_key.value, path, { score: 1 })).status).toBe(200);
});
