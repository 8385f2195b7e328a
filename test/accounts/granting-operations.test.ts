/**
 * Every operation that gives a credential or access, with every permission as the only one of its caller: nobody may do
 * more afterwards than before, except for what the caller may do. Operations that write such rows must be marked.
 */

import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Access } from "../../src/contracts/caller.ts";
import { ALL_PERMISSIONS, type RolePermission } from "../../src/contracts/permissions.ts";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { builtInRole, ORGANIZATION_ROLE_IDS } from "../../src/features/accounts/roles/built-in-roles.ts";
import { findAccess, findGrantsOfGroup, toPermissions } from "../../src/features/accounts/roles/find-access.ts";
import { toAccess } from "../../src/http/access.ts";
import { type AccessWatch, watchAccess } from "../support/accounts/watch-access.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { type RecordedRequest, WireRecorder } from "../support/wire/wire-recorder.ts";
import { WIRE_SCRIPTS } from "../support/wire/wire-scripts.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
limits: { failed_authentications_per_minute: 100000 }
`;
const PROJECT_OWNER = "role_project_owner";
const { owner: OWNER } = ORGANIZATION_ROLE_IDS;

/** Marked operations whose caller shows a secret of the person in place of a permission, or the operator's key. */
const BY_OTHER_MEANS: Readonly<Record<string, string>> = {
  "POST /console/session": "signs in with a key, code or password, as which the session works",
  "POST /console/session/project": "chooses among the projects of the person who is signed in",
  "POST /console/password": "takes the token of a link, or the current password",
  "POST /console/invite/accept": "takes the token of an invite",
  "POST /console/first_owner": "takes the session of an unrestricted admin key (grants.test.ts)",
  "GET /sign-on/{provider}/callback": "takes the answer of the provider (test/sign-on)",
  "POST /v1/organizations": "takes a key of the operator (operator.test.ts)",
  "POST /v1/webhook_endpoints": "gives a secret that signs events for a receiver, and opens nothing here",
  "POST /v1/webhook_endpoints/{endpoint}/rotate_secret": "as the creation of an endpoint",
  "POST /v1/realtime/client_secrets": "stands for the key of the caller, which it authenticates each time",
  "POST /v1/realtime/sessions": "as a client secret",
  "POST /v1/realtime/transcription_sessions": "as a client secret",
  "POST /v1/realtime/translations/client_secrets": "as a client secret",
};

let service: InProcessService;
let watch: AccessWatch;
let organizationId: string;
let project: string;
let count = 0;
const unique = (prefix: string) => {
  count += 1;
  return `${prefix}-${count}`;
};

beforeAll(async () => {
  service = await startService({ config: CONFIG });
  ({ organizationId } = await service.accounts.defaultScope("admin"));
  project = (await service.accounts.projects.create(OPERATOR, organizationId, "Team")).id;
  // An owner, so that others can be demoted and removed.
  await newUser("owner");
  await watchWrites();
  watch = await watchAccess(service);
});
// Whatever a test changes, the audit log has to say.
afterEach(async () => {
  expect(await watch.unaudited()).toEqual([]);
});
afterAll(() => service?.stop());
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
const marked = () => service.operations.filter(({ grants }) => grants !== undefined).map(nameOf);

// What attacks are about. Each attack gets new ones.
async function newUser(role: "owner" | "reader", projectRole?: string) {
  const email = `${unique("person")}@example.com`;
  const projects = projectRole === undefined ? [] : [{ id: project, role: projectRole }];
  const wanted = { organizationId, email, role, projects, expiresInSeconds: undefined };
  const { token } = await service.accounts.invites.create(OPERATOR, wanted);
  return service.accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: "Person" });
}

/** A group of owners of the organization and of the project. */
async function newGroup(): Promise<string> {
  const { id } = await service.accounts.groups.create(OPERATOR, organizationId, unique("group"));
  const [scope, principal] = [
    { organizationId, projectId: undefined },
    { type: "group", id },
  ] as const;
  await service.accounts.roleAssignments.assign(OPERATOR, scope, principal, OWNER);
  await service.accounts.projectMembers.putGroup(OPERATOR, { organizationId, id: project }, id, PROJECT_OWNER);
  return id;
}

async function newMember(groupId: string): Promise<string> {
  const { id } = await newUser("reader");
  await service.accounts.groups.addMember(OPERATOR, { organizationId, id: groupId }, id);
  return id;
}

async function newRole(projectId?: string): Promise<string> {
  const permissions = projectId === undefined ? ["organization.write"] : ["project.write"];
  const role = { name: unique("role"), permissions };
  return (await service.accounts.roles.create(OPERATOR, { organizationId, projectId }, role)).id;
}

/** Assigns a new role to a user or group, which is in the project if one is named. */
async function newAssignment(type: "user" | "group", projectId?: string) {
  const id = type === "user" ? (await newUser("reader", "viewer")).id : await newGroup();
  const role = await newRole(projectId);
  await service.accounts.roleAssignments.assign(OPERATOR, { organizationId, projectId }, { type, id }, role);
  return { id, role };
}

async function newServiceAccount() {
  const wanted = { name: "Account", key: { expiresInSeconds: undefined } };
  const { account, key } = await service.accounts.serviceAccounts.create(
    OPERATOR,
    { organizationId, id: project },
    wanted,
  );
  return { account: account.id, key: key?.key.id ?? "" };
}

interface Attack {
  path: string;
  payload?: object;
}

const TEAM = () => `/v1/organization/projects/${project}`;
const ROLES = () => `/v1/projects/${project}`;
const NEW_ROLE = () => ({ role_name: unique("role"), permissions: [...ALL_PERMISSIONS] });
const NEW_PROJECT_ROLE = () => ({ role_name: unique("role"), permissions: ["project.write", "project.inference"] });
const organization = (path: string, payload?: object): Attack => ({
  path: `/v1/organization${path}`,
  ...(payload && { payload }),
});
const members = async () => [{ value: (await newUser("reader")).id }];

/** Asks each operation for as much as it can give. */
const ATTACKS: Readonly<Record<string, () => Attack | Promise<Attack>>> = {
  "POST /v1/organization/admin_api_keys": () => organization("/admin_api_keys", { name: "Key" }),
  "POST /v1/organization/console_sign_in_codes": () => organization("/console_sign_in_codes"),
  "POST /v1/organization/groups": () => organization("/groups", { name: unique("group") }),
  "POST /v1/organization/groups/{group}": async () =>
    organization(`/groups/${await newGroup()}`, { name: unique("group") }),
  "DELETE /v1/organization/groups/{group}": async () => organization(`/groups/${await newGroup()}`),
  "POST /v1/organization/groups/{group}/users": async () =>
    organization(`/groups/${await newGroup()}/users`, { user_id: (await newUser("reader")).id }),
  "DELETE /v1/organization/groups/{group}/users/{user}": async () => {
    const group = await newGroup();
    return organization(`/groups/${group}/users/${await newMember(group)}`);
  },
  "POST /v1/organization/groups/{group}/roles": async () =>
    organization(`/groups/${await newGroup()}/roles`, { role_id: await newRole() }),
  "DELETE /v1/organization/groups/{group}/roles/{role}": async () => {
    const { id, role } = await newAssignment("group");
    return organization(`/groups/${id}/roles/${role}`);
  },
  "POST /v1/organization/users/{user}/roles": async () =>
    organization(`/users/${(await newUser("reader")).id}/roles`, { role_id: OWNER }),
  "DELETE /v1/organization/users/{user}/roles/{role}": async () => {
    const { id, role } = await newAssignment("user");
    return organization(`/users/${id}/roles/${role}`);
  },
  "POST /v1/organization/users/{user}": async () =>
    organization(`/users/${(await newUser("reader")).id}`, { role: "owner" }),
  "DELETE /v1/organization/users/{user}": async () => organization(`/users/${(await newUser("owner")).id}`),
  "POST /v1/organization/users/{user}/erase": async () => organization(`/users/${(await newUser("reader")).id}/erase`),
  "POST /v1/organization/users/{user}/password_link": async () =>
    organization(`/users/${(await newUser("owner")).id}/password_link`),
  "POST /v1/organization/invites": () =>
    organization("/invites", {
      email: `${unique("invited")}@example.com`,
      role: "owner",
      projects: [{ id: project, role: "owner" }],
    }),
  "POST /v1/organization/roles": () => organization("/roles", NEW_ROLE()),
  "POST /v1/organization/roles/{role}": async () => organization(`/roles/${await newRole()}`, NEW_ROLE()),
  "DELETE /v1/organization/roles/{role}": async () => organization(`/roles/${await newRole()}`),
  "POST /v1/organization/projects": () => organization("/projects", { name: "New" }),
  "POST /v1/organization/projects/{project}/api_keys": () => ({ path: `${TEAM()}/api_keys`, payload: { name: "Key" } }),
  "POST /v1/organization/projects/{project}/api_keys/{key}": async () => ({
    path: `${TEAM()}/api_keys/${(await newServiceAccount()).key}`,
    payload: { expires_in_seconds: 3600 },
  }),
  "POST /v1/organization/projects/{project}/api_keys/{key}/rotate": async () => ({
    path: `${TEAM()}/api_keys/${(await newServiceAccount()).key}/rotate`,
  }),
  "POST /v1/organization/projects/{project}/service_accounts": () => ({
    path: `${TEAM()}/service_accounts`,
    payload: { name: "Account" },
  }),
  "POST /v1/organization/projects/{project}/service_accounts/{account}/api_keys": async () => ({
    path: `${TEAM()}/service_accounts/${(await newServiceAccount()).account}/api_keys`,
  }),
  "POST /v1/organization/projects/{project}/users": async () => ({
    path: `${TEAM()}/users`,
    payload: { user_id: (await newUser("reader")).id, role: "owner" },
  }),
  "POST /v1/organization/projects/{project}/users/{user}": async () => ({
    path: `${TEAM()}/users/${(await newUser("reader", "viewer")).id}`,
    payload: { role: "owner" },
  }),
  "DELETE /v1/organization/projects/{project}/users/{user}": async () => ({
    path: `${TEAM()}/users/${(await newUser("reader", "owner")).id}`,
  }),
  "POST /v1/organization/projects/{project}/groups": async () => ({
    path: `${TEAM()}/groups`,
    payload: { group_id: await newGroup(), role: "owner" },
  }),
  "DELETE /v1/organization/projects/{project}/groups/{group}": async () => ({
    path: `${TEAM()}/groups/${await newGroup()}`,
  }),
  "POST /v1/projects/{project}/roles": () => ({ path: `${ROLES()}/roles`, payload: NEW_PROJECT_ROLE() }),
  "POST /v1/projects/{project}/roles/{role}": async () => ({
    path: `${ROLES()}/roles/${await newRole(project)}`,
    payload: NEW_PROJECT_ROLE(),
  }),
  "DELETE /v1/projects/{project}/roles/{role}": async () => ({ path: `${ROLES()}/roles/${await newRole(project)}` }),
  "POST /v1/projects/{project}/users/{user}/roles": async () => ({
    path: `${ROLES()}/users/${(await newUser("reader", "viewer")).id}/roles`,
    payload: { role_id: await newRole(project) },
  }),
  "DELETE /v1/projects/{project}/users/{user}/roles/{role}": async () => {
    const { id, role } = await newAssignment("user", project);
    return { path: `${ROLES()}/users/${id}/roles/${role}` };
  },
  "POST /v1/projects/{project}/groups/{group}/roles": async () => ({
    path: `${ROLES()}/groups/${await newGroup()}/roles`,
    payload: { role_id: await newRole(project) },
  }),
  "DELETE /v1/projects/{project}/groups/{group}/roles/{role}": async () => {
    const { id, role } = await newAssignment("group", project);
    return { path: `${ROLES()}/groups/${id}/roles/${role}` };
  },
  "POST /scim/v2/Users": () => ({ path: "/scim/v2/Users", payload: { userName: `${unique("scim")}@example.com` } }),
  "PUT /scim/v2/Users/{id}": async () => ({
    path: `/scim/v2/Users/${(await newUser("owner")).id}`,
    payload: { userName: `${unique("scim")}@example.com` },
  }),
  "PATCH /scim/v2/Users/{id}": async () => ({
    path: `/scim/v2/Users/${(await newUser("owner")).id}`,
    payload: { Operations: [{ op: "replace", path: "userName", value: `${unique("scim")}@example.com` }] },
  }),
  "DELETE /scim/v2/Users/{id}": async () => ({ path: `/scim/v2/Users/${(await newUser("reader")).id}` }),
  "POST /scim/v2/Groups": async () => ({
    path: "/scim/v2/Groups",
    payload: { displayName: unique("scim"), members: await members() },
  }),
  "PUT /scim/v2/Groups/{id}": async () => ({
    path: `/scim/v2/Groups/${await newGroup()}`,
    payload: { displayName: unique("scim"), members: await members() },
  }),
  "PATCH /scim/v2/Groups/{id}": async () => ({
    path: `/scim/v2/Groups/${await newGroup()}`,
    payload: { Operations: [{ op: "add", path: "members", value: await members() }] },
  }),
  "DELETE /scim/v2/Groups/{id}": async () => ({ path: `/scim/v2/Groups/${await newGroup()}` }),
};

async function send(name: string, { path, payload }: Attack, key: string) {
  const [method = ""] = name.split(" ");
  const headers = { authorization: `Bearer ${key}` };
  const answer = await service.inject({ method: method as "POST", url: path, headers, ...(payload && { payload }) });
  return { status: answer.statusCode, body: answer.body === "" ? {} : answer.json() };
}

/** `permission@place` of every principal and credential, by its ID. An address signs its user in. */
type Powers = Map<string, Set<string>>;

function toTexts({ organization: permissions, projects }: Access): Set<string> {
  const ofProjects = Object.entries(projects).flatMap(([id, each]) => each.map((permission) => `${permission}@${id}`));
  return new Set([...permissions.map((permission) => `${permission}@organization`), ...ofProjects]);
}

const EVERYTHING: Access = { organization: ALL_PERMISSIONS, projects: {} };
const inOrganization = (permissions: readonly RolePermission[]): Access => ({
  organization: permissions,
  projects: {},
});
const ofRole = (id: string) => builtInRole(id)?.permissions ?? [];

async function measure(): Promise<Powers> {
  const { accounts } = service;
  return accounts.run(async (executor) => {
    const powers: Powers = new Map();
    const users = await executor.selectFrom("users").selectAll().execute();
    const access = await findAccess(
      executor,
      users.map((user) => ({ user })),
    );
    for (const { id, email } of users) powers.set(`${id} ${email}`, toTexts(access.get(id) ?? inOrganization([])));
    for (const group of await executor.selectFrom("groups").selectAll().execute()) {
      powers.set(group.id, toTexts(toAccess(await findGrantsOfGroup(executor, group))));
    }
    for (const { id, scopeId, permissions } of await executor.selectFrom("roles").selectAll().execute()) {
      const each = toPermissions(permissions);
      const isOfProject = scopeId !== organizationId;
      powers.set(id, toTexts(isOfProject ? { organization: [], projects: { [scopeId]: each } } : inOrganization(each)));
    }
    const keys = await executor.selectFrom("apiKeys").selectAll().where("revokedAt", "is", null).execute();
    for (const { id, kind, projectId, userId, permissions, expiresAt } of keys) {
      if (kind === "operator") continue;
      const inference: Access = { organization: [], projects: { [projectId ?? ""]: ["project.inference"] } };
      const ofAdmin = permissions == null ? EVERYTHING : inOrganization(toPermissions(permissions));
      const ofKey = kind === "project" ? inference : ofAdmin;
      powers.set(`${id} ${expiresAt}`, toTexts(userId === null ? ofKey : (access.get(userId) ?? inOrganization([]))));
    }
    for (const { tokenHash, userId } of await executor.selectFrom("passwordLinks").selectAll().execute()) {
      powers.set(tokenHash, toTexts(access.get(userId) ?? inOrganization([])));
    }
    const invites = await executor.selectFrom("invites").selectAll().where("acceptedAt", "is", null).execute();
    for (const { id, role, projects } of invites) {
      const each: { id: string; roleId: string }[] = JSON.parse(projects);
      const ofProjects = Object.fromEntries(each.map((one) => [one.id, ofRole(one.roleId)]));
      powers.set(id, toTexts({ organization: ofRole(ORGANIZATION_ROLE_IDS[role]), projects: ofProjects }));
    }
    return powers;
  });
}

/** What anybody may do now and could not do before. */
function gains(before: Powers, after: Powers): string[] {
  return [...after].flatMap(([id, powers]) => {
    const earlier = before.get(id) ?? new Set();
    // A permission in the organization holds in every project.
    const isNew = (power: string) => !earlier.has(power) && !earlier.has(power.replace(/@proj_.*/, "@organization"));
    return [...powers].filter(isNew).map((power) => `${id}: ${power}`);
  });
}

/** Tables of credentials and access, with the columns whose change gives something. */
const WATCHED: Readonly<Record<string, string>> = {
  api_keys: "key_hash, permissions, user_id",
  console_grants: "key_id, token_hash",
  user_sessions: "user_id, admin_hash, project_hash, project_key_id",
  users: "role, email",
  user_passwords: "hash",
  password_links: "token_hash",
  groups: "name, is_scim_managed, provider_id",
  group_members: "group_id, user_id",
  project_users: "role_id",
  project_groups: "role_id",
  roles: "permissions",
  role_assignments: "role_id",
  invites: "token_hash, role, projects",
  client_secrets: "key_id",
};

/** Logs every write of these tables in one more table, whatever code it comes from. */
async function watchWrites(): Promise<void> {
  await service.accounts.run(async (executor) => {
    await sql`create table watched_writes (target text)`.execute(executor);
    for (const [table, columns] of Object.entries(WATCHED)) {
      for (const event of ["insert", `update of ${columns}`]) {
        const name = `watch_${table}_${event.slice(0, 6)}`;
        const statement = `create trigger ${name} after ${event} on ${table} begin insert into watched_writes values ('${table}'); end`;
        await sql.raw(statement).execute(executor);
      }
    }
  });
}

/** Returns the tables that were written since the last call. */
async function takeWrites(): Promise<string[]> {
  return service.accounts.run(async (executor) => {
    const { rows } = await sql<{ target: string }>`delete from watched_writes returning target`.execute(executor);
    return rows.map(({ target }) => target);
  });
}

test("has an attack, or a reason for none, for each marked operation", () => {
  const names = [...Object.keys(ATTACKS), ...Object.keys(BY_OTHER_MEANS)];
  // Tests of sign-on have a provider, without which its operation does not exist.
  const operations = [...marked(), "GET /sign-on/{provider}/callback"];
  expect(names.toSorted()).toEqual(operations.toSorted());
});

/** Attacks that were refused so far, and therefore changed nothing of what they are about. */
const unused = new Map<string, Attack>();

async function prepare(): Promise<[name: string, request: Attack][]> {
  for (const [name, attack] of Object.entries(ATTACKS)) if (!unused.has(name)) unused.set(name, await attack());
  return [...unused];
}

const OF_OWNERS = ALL_PERMISSIONS.flatMap((permission) => [
  { permission, holder: "a key" },
  { permission, holder: "a key of an owner" },
]);

test.each(OF_OWNERS)("gives nothing but $permission to $holder with that alone", async ({ permission, holder }) => {
  const user = holder === "a key of an owner" ? { userId: (await newUser("owner")).id } : {};
  const scope = { organizationId, kind: "restricted", ...user } as const;
  const wanted = { scope, name: permission, expiresInSeconds: undefined, permissions: [permission] };
  const key = (await service.accounts.apiKeys.create(OPERATOR, wanted)).secret.reveal();
  const excess: string[] = [];
  const requests = await prepare();
  let before = await measure();
  for (const [name, request] of requests) {
    const { status, body } = await send(name, request, key);
    if (status >= 500) excess.push(`${name}: ${status}`);
    if (status >= 400) continue;
    unused.delete(name);
    if (body.code !== undefined) excess.push(`${name}: a sign-in code`);
    const after = await measure();
    const more = gains(before, after).filter((power) => !power.includes(` ${permission}@`));
    excess.push(...more.map((power) => `${name}: ${power}`));
    before = after;
  }
  // Refused requests change nothing either.
  expect(gains(before, await measure())).toEqual([]);
  expect(excess).toEqual([]);
});

test("each attack that was refused until now succeeds for who may do everything", async () => {
  for (const [name, request] of await prepare()) {
    const { status, body } = await send(name, request, service.adminKey);
    expect([name, status, body]).toEqual([name, expect.toBeOneOf([200, 201, 204]), body]);
  }
});

test("no operation gives a credential or access unless it is marked", async () => {
  const templates = service.operations.map((operation) => ({
    name: nameOf(operation),
    grants: operation.grants,
    pattern: new RegExp(`^${operation.method} ${operation.path.replaceAll(/\{\w+\}/g, "[^/?]+")}$`),
    parameters: operation.path.split("{").length,
  }));
  const writers = new Set<string>();
  const requested = new Set<string>();
  class WatchingRecorder extends WireRecorder {
    override async send<Answer>(title: string, route: string, request: RecordedRequest = {}): Promise<Answer> {
      await takeWrites();
      const answer = await super.send<Answer>(title, route, request);
      const matches = templates.filter(({ pattern }) => pattern.test(route.split("?")[0] ?? ""));
      const [operation] = matches.toSorted((one, other) => one.parameters - other.parameters);
      if (operation === undefined) return answer;
      requested.add(operation.name);
      if ((await takeWrites()).length > 0) writers.add(operation.name);
      return answer;
    }
  }
  const recorder = new WatchingRecorder(service.origin);
  const scripts = [
    "organization",
    "people",
    "scim",
    "budgets",
    "prompts",
    "saved-chats",
    "configuration",
    "service",
    "models",
  ];
  for (const name of scripts) {
    await WIRE_SCRIPTS[name]?.({ recorder, key: service.apiKey, adminKey: service.adminKey });
  }
  const unmarked = templates.filter(({ grants }) => grants === undefined).map(({ name }) => name);
  expect([...writers].filter((name) => unmarked.includes(name))).toEqual([]);
  expect(writers.size).toBeGreaterThan(15);
  expect(requested.size).toBeGreaterThan(100);
});
