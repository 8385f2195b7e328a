/**
 * What a member may change only because it is the member's own, for which everybody's changes and sign-ins wait, and after
 * which every replica reads its keys again: every operation of it is limited, whichever there are.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { readAccountsVersion } from "../../src/features/accounts/accounts-version.ts";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { mayCall } from "../../src/http/access.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const MAX_CHANGES = 100;
const DAY_SECONDS = 86_400;

let service: InProcessService;
let organizationId: string;
let project: string;
let people = 0;
beforeAll(async () => {
  service = await startService();
  ({ organizationId } = await service.accounts.defaultScope("admin"));
  project = (await service.accounts.projects.create(OPERATOR, organizationId, "Team")).id;
});
afterAll(() => service?.stop());

/** Adds a user to the project, with a key of theirs in it, and one for the administration. */
async function newUser(role: "member" | "owner") {
  people += 1;
  const { accounts } = service;
  const email = `person-${people}@example.com`;
  const invite = { organizationId, email, role: "reader", projects: [{ id: project, role }] } as const;
  const { token } = await accounts.invites.create(OPERATOR, { ...invite, expiresInSeconds: undefined });
  const { id } = await accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: "Person" });
  const keyOf = async (scope: { kind: "admin" } | { kind: "project"; projectId: string }) => {
    const newKey = { scope: { organizationId, userId: id, ...scope }, name: "Laptop", expiresInSeconds: undefined };
    return accounts.apiKeys.create(OPERATOR, newKey);
  };
  const { key } = await keyOf({ kind: "project", projectId: project });
  return { id, key: key.id, adminKey: (await keyOf({ kind: "admin" })).secret.reveal() };
}

type User = Awaited<ReturnType<typeof newUser>>;

async function send(
  { adminKey }: Pick<User, "adminKey">,
  method: "GET" | "POST" | "DELETE",
  url: string,
  payload?: object,
) {
  const headers = { authorization: `Bearer ${adminKey}` };
  const answer = await service.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
  return { status: answer.statusCode, headers: answer.headers, body: answer.body };
}

const ownKeys = () => `/v1/organization/projects/${project}/api_keys`;
const rename = (user: User, name: string) => send(user, "POST", `${ownKeys()}/${user.key}`, { name });

/** What a change of accounts leaves behind. */
const traces = async () => {
  const version = await service.accounts.run(readAccountsVersion);
  const { entries } = await service.accounts.run((executor) =>
    executor
      .selectFrom("auditLogs")
      .select((row) => row.fn.countAll<number>().as("entries"))
      .executeTakeFirstOrThrow(),
  );
  return { version, entries: Number(entries) };
};

const NEW_KEY = { name: "Another", expires_in_seconds: DAY_SECONDS };

/** Bodies of operations, which are read before changes are counted. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /v1/organization/projects/{project}/api_keys": NEW_KEY,
  "POST /v1/organization/projects/{project}/api_keys/{key}": { name: "Desk" },
};

const UNLIMITED: Readonly<Record<string, string>> = {
  "DELETE /v1/organization/projects/{project}/api_keys/{key}": "ends what may have leaked",
  "POST /v1/organization/requests/{id}/feedback": "changes nothing of accounts",
};

test("limits every operation that changes what is a member's own, and no other member", async () => {
  const [ada, bob] = [await newUser("member"), await newUser("member")];
  const before = await traces();
  for (let change = 0; change < MAX_CHANGES; change += 1) expect((await rename(ada, "Laptop")).status).toBe(200);
  // Nothing changed.
  expect(await traces()).toEqual(before);

  const caller = await service.accounts.authenticate(ada.adminKey);
  const path = { project, user: ada.id };
  const callable = service.operations
    .filter(({ permission }) => /^admin/.test(permission))
    .filter((each) => mayCall(caller, each, each.path.includes("{project}") ? path : { user: ada.id }));
  const limited: string[] = [];
  for (const { method, path: template } of callable) {
    const name = `${method} ${template}`;
    if (UNLIMITED[name] !== undefined) continue;
    const url = template
      .replace("{project}", project)
      .replace("{user}", ada.id)
      .replace("{key}", ada.key)
      .replaceAll(/\{\w+\}/g, "none");
    const { status, headers, body } = await send(ada, method as "POST", url, BODIES[name]);
    if (status === 429) {
      expect(JSON.parse(body).error).toMatchObject({ code: "too_many_attempts" });
      expect(Number(headers["retry-after"])).toBeGreaterThan(0);
      limited.push(name);
    } else expect([name, method]).toEqual([name, "GET"]);
  }
  expect(await traces()).toEqual(before);
  // Reads, and is in the audit log.
  expect(limited).toContain("GET /v1/organization/users/{user}/export");
  for (const name of Object.keys(BODIES)) expect(limited).toContain(name);
  expect((await rename(bob, "Desk")).status).toBe(200);

  const revoke = () => send(ada, "DELETE", `${ownKeys()}/${ada.key}`);
  expect((await revoke()).status).toBe(200);
  expect((await revoke()).status).toBe(404);
});

test("does not limit those who administer the project", async () => {
  const owner = await newUser("owner");
  for (let change = 0; change <= MAX_CHANGES; change += 1) {
    expect((await rename(owner, `Laptop ${change}`)).status).toBe(200);
  }
  const administrator = { adminKey: service.adminKey };
  for (let change = 0; change <= MAX_CHANGES; change += 1) {
    const url = `${ownKeys()}/${owner.key}`;
    expect((await send(administrator, "POST", url, { name: `Desk ${change}` })).status).toBe(200);
  }
});

/** Makes each thing that can be updated. Returns the path and body of an update that changes nothing. */
const UNCHANGED: Readonly<Record<string, (user: User) => Promise<[path: string, body: object]>>> = {
  "the name of a key": async ({ key }) => [`/organization/projects/${project}/api_keys/${key}`, { name: " Laptop " }],
  "the expiry of a key": async () => {
    const scope = { organizationId, projectId: project, kind: "project" } as const;
    const { key } = await service.accounts.apiKeys.create(OPERATOR, { scope, name: "CI", expiresInSeconds: undefined });
    return [`/organization/projects/${project}/api_keys/${key.id}`, { expires_in_seconds: null }];
  },
  "the name of a project": async () => [`/organization/projects/${project}`, { name: "Team" }],
  "the name of a group": async () => {
    const { id } = await service.accounts.groups.create(OPERATOR, organizationId, "Research");
    return [`/organization/groups/${id}`, { name: "Research" }];
  },
  "a member of a group": async (user) => {
    const { id } = await service.accounts.groups.create(OPERATOR, organizationId, "Staff");
    await service.accounts.groups.addMember(OPERATOR, { organizationId, id }, user.id);
    return [`/organization/groups/${id}/users`, { user_id: user.id }];
  },
  "the name and the role of a user": async ({ id }) => [
    `/organization/users/${id}`,
    { name: "Person", role: "reader" },
  ],
  "the role of a member of a project": async ({ id }) => [
    `/organization/projects/${project}/users/${id}`,
    { role: "member" },
  ],
  "a custom role": async () => {
    const role = { name: "Auditors", description: "Read.", permissions: ["organization.audit_logs.read"] };
    const { id } = await service.accounts.roles.create(OPERATOR, { organizationId, projectId: undefined }, role);
    const { name: role_name, ...rest } = role;
    return [`/organization/roles/${id}`, { role_name, ...rest }];
  },
  "a role that a user has": async ({ id }) => {
    const role = { name: "Readers", permissions: ["organization.read"] };
    const scope = { organizationId, projectId: undefined };
    const { id: roleId } = await service.accounts.roles.create(OPERATOR, scope, role);
    await service.accounts.roleAssignments.assign(OPERATOR, scope, { type: "user", id }, roleId);
    return [`/organization/users/${id}/roles`, { role_id: roleId }];
  },
  "a lower role of the organization": async ({ id }) => [
    `/organization/users/${id}/roles`,
    { role_id: "role_organization_reader" },
  ],
  "the name and the role of a service account": async () => {
    const reference = { organizationId, id: project };
    const { account } = await service.accounts.serviceAccounts.create(OPERATOR, reference, {
      name: "CI",
      key: undefined,
    });
    await service.accounts.serviceAccounts.update(
      OPERATOR,
      { organizationId, projectId: project, id: account.id },
      { role: "member" },
    );
    return [`/organization/projects/${project}/service_accounts/${account.id}`, { name: "CI", role: "member" }];
  },
};

test.each(Object.entries(UNCHANGED))("writes nothing for an update that leaves %s as it is", async (_what, make) => {
  const [path, body] = await make(await newUser("member"));
  const before = await traces();
  expect((await send({ adminKey: service.adminKey }, "POST", `/v1${path}`, body)).status).toBe(200);
  expect(await traces()).toEqual(before);
});
