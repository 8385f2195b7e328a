/** Isolation of organizations: an admin never sees or changes another organization's data, on any route. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../../test/support/databases/databases.ts";
import { type Administration, startAdministration } from "../../../../test/support/service/administration.ts";
import { OPERATOR } from "../audit/audit.ts";

const databases = useDatabases();

const MODERATION = { policy: { input: { mode: "block" } } };
const SPEND_LIMIT = { currency: "USD", interval: "month", threshold_amount: 100 };

const BUDGET = { subject: { type: "organization" }, interval: "day", threshold_amount: 100 };
const CHANNEL = { type: "email", recipients: ["ada@example.com"] };
const SPEND_ALERT = { ...SPEND_LIMIT, notification_channel: CHANNEL };

/** Valid bodies of the routes: only the foreign ID can cause a refusal. */
const BODIES: Record<string, unknown> = {
  "/projects/:project": { name: "Taken over" },
  "/projects/:project/service_accounts": { name: "Intruder" },
  "/projects/:project/service_accounts/:account": { name: "Taken over" },
  "/projects/:project/service_accounts/:account/api_keys": { name: "Intruder" },
  "/projects/:project/api_keys": { name: "Intruder" },
  "/projects/:project/api_keys/:key": { expires_in_seconds: 1 },
  "/projects/:project/rate_limits/:limit": { max_requests_per_1_minute: 1 },
  "/projects/:project/spend_limit": SPEND_LIMIT,
  "/projects/:project/api_keys/:key/spend_limit": SPEND_LIMIT,
  "/projects/:project/budgets": BUDGET,
  "/projects/:project/budgets/:budget": { threshold_amount: 1 },
  "/projects/:project/spend_alerts": SPEND_ALERT,
  "/projects/:project/spend_alerts/:alert": SPEND_ALERT,
  "/budgets/:budget": { threshold_amount: 1 },
  "/spend_alerts/:alert": SPEND_ALERT,
  "/projects/:project/moderation_policy": MODERATION,
  "/projects/:project/key_rules": { max_keys_per_user: 1 },
  "/projects/:project/data_retention": { retention_type: "none" },
  "/projects/:project/service_tier_settings": { default: "fast" },
  "/projects/:project/model_permissions": { mode: "allow_list", model_ids: [] },
  "/projects/:project/users": { email: "intruder@example.com", role: "member" },
  "/projects/:project/users/:user": { role: "owner" },
  "/projects/:project/groups": { group_id: "group_0", role: "member" },
  "/users/:user": { role: "owner" },
  "/users/:user/roles": { role_id: "role_organization_owner" },
  "/groups/:group": { name: "Taken over" },
  "/groups/:group/users": { user_id: "user_0" },
  "/groups/:group/roles": { role_id: "role_organization_owner" },
  "/roles/:role": { role_name: "Taken over" },
  "/v1/projects/:project/roles": { role_name: "Intruder", permissions: [] },
  "/v1/projects/:project/roles/:role": { role_name: "Taken over" },
  "/v1/projects/:project/users/:user/roles": { role_id: "role_project_owner" },
  "/v1/projects/:project/groups/:group/roles": { role_id: "role_project_owner" },
};

const UNKNOWN = {
  ...{ project: "proj_0", account: "svc_acct_0", key: "key_0", limit: "rl_0" },
  ...{ user: "user_0", group: "group_0", role: "role_0", invite: "invite_0" },
  ...{ budget: "budget_0", alert: "alert_0" },
};

/** Adds a user, a group and roles that both have, in the organization and in the project. */
async function addPeople(service: Administration, project: string) {
  const { organization } = service.admin.admin;
  const { accounts } = service;
  const invite = await organization.invites.create({ email: "ada@example.com", role: "reader" });
  const { token } = invite as unknown as { token: string };
  const user = await accounts.invites.accept(OPERATOR, { token, email: "ada@example.com", name: "Ada" });
  const group = (await organization.groups.create({ name: "Team" })).id;
  await organization.groups.users.create(group, { user_id: user.id });
  const role = (
    await organization.roles.create({ role_name: "Auditor", permissions: ["organization.audit_logs.read"] })
  ).id;
  await organization.users.roles.create(user.id, { role_id: role });
  await organization.groups.roles.create(group, { role_id: role });
  const { projects } = organization;
  await projects.users.create(project, { user_id: user.id, role: "member" });
  await projects.groups.create(project, { group_id: group, role: "viewer" });
  const projectRole = (await projects.roles.create(project, { role_name: "Keys", permissions: ["project.keys.read"] }))
    .id;
  await projects.users.roles.create(user.id, { project_id: project, role_id: projectRole });
  await projects.groups.roles.create(group, { project_id: project, role_id: projectRole });
  return { user: user.id, group, role, projectRole, invite: invite.id };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Administration;
  /** IDs of the default organization, which the other organization's admin tries. */
  let ids: Record<string, string>;

  beforeAll(async () => {
    service = await startAdministration(await databases.create(kind));
    const { organization } = service.admin.admin;
    const project = (await organization.projects.create({ name: "Private" })).id;
    const account = await organization.projects.serviceAccounts.create(project, { name: "Builder" });
    const [limit] = (await organization.projects.rateLimits.listRateLimits(project)).data;
    ids = { project, account: account.id, key: account.api_key?.id ?? "", limit: limit?.id ?? "" };
    const people = await addPeople(service, project);
    ids = { ...ids, ...people };
    const owners = ["", `/projects/${project}`, `/projects/${project}/api_keys/${ids.key}`];
    for (const owner of owners) await service.send("POST", `${owner}/spend_limit`, SPEND_LIMIT);
    await service.sendForeign("POST", "/spend_limit", SPEND_LIMIT);
    const budget = await service.send("POST", `/projects/${project}/budgets`, BUDGET);
    const alert = await service.send("POST", `/projects/${project}/spend_alerts`, SPEND_ALERT);
    const general = await service.send("POST", "/spend_alerts", SPEND_ALERT);
    ids = { ...ids, budget: budget.body.id, alert: alert.body.id, general: general.body.id };
    await service.send("POST", `/projects/${project}/moderation_policy`, MODERATION);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** Reads all visible data of the default organization. */
  async function everything(): Promise<unknown[]> {
    const { project, account, group } = ids;
    const paths = [
      "/projects?include_archived=true",
      "/admin_api_keys",
      "/api_keys?limit=100",
      "/audit_logs?limit=100",
      "/model_permissions",
      "/budgets",
      "/spend_alerts",
      `/projects/${project}/spend_alerts`,
      "/users",
      "/groups",
      "/invites",
      `/groups/${group}/users`,
      `/projects/${project}/users`,
      `/projects/${project}/groups`,
      `/projects/${project}/service_accounts`,
      `/projects/${project}/service_accounts/${account}/api_keys`,
      `/projects/${project}/api_keys`,
      `/projects/${project}/model_permissions`,
      `/projects/${project}/rate_limits`,
      `/projects/${project}/moderation_policy`,
      `/projects/${project}/spend_limit`,
      `/projects/${project}/api_keys/${ids.key}/spend_limit`,
    ];
    const all = await Promise.all(paths.map((path) => service.send("GET", path)));
    // When a key was used is written some seconds later.
    return JSON.parse(JSON.stringify(all, (name, value) => (name.startsWith("last_used_") ? null : value)));
  }

  test("returns 404 for another organization's ID on every route, and changes nothing", async () => {
    const before = await everything();
    const adminKey = (await service.send("GET", "/admin_api_keys")).body.data[0].id;
    const walked: string[] = [];
    for (const { method, pattern } of service.routes) {
      const path = pattern.replace("/v1/organization", "");
      if (!path.includes(":")) continue;
      const foreign = {
        ...ids,
        ...(path.startsWith("/admin_api_keys") && { key: adminKey }),
        ...(path.startsWith("/spend_alerts") && { alert: ids.general }),
        ...(path.startsWith("/v1/projects") && { role: ids.projectRole }),
      };
      const fill = (values: Record<string, string | undefined>) =>
        path.replace(/:(\w+)/g, (_all, name: string) => values[name] ?? "");
      const body = method === "POST" ? BODIES[path] : undefined;
      const own = await service.send("GET", fill(foreign));
      const answer = await service.sendForeign(method, fill(foreign), body);
      const missing = await service.sendForeign(method, fill(UNKNOWN), body);
      expect([method, path, answer]).toMatchObject([
        method,
        path,
        { status: 404, body: { error: { code: "not_found" } } },
      ]);
      // The response is the same as for an unknown ID, although the ID exists and its owner can retrieve it.
      expect(answer.body.error.message.replace(/`.*`/, "")).toBe(missing.body.error.message.replace(/`.*`/, ""));
      // A request's ID is that of no resource above.
      if (method === "GET" && path !== "/requests/:id") expect(own.status).toBe(200);
      walked.push(`${method} ${path}`);
    }
    expect(walked.length).toBeGreaterThanOrEqual(19);
    expect(await everything()).toEqual(before);
  });

  test("returns 404 for another project's resource under the caller's project", async () => {
    const own = (await service.foreign.admin.organization.projects.create({ name: "Own" })).id;
    const { serviceAccounts, apiKeys } = service.foreign.admin.organization.projects;
    const params = { project_id: own };
    const { account = "", key = "" } = ids;
    const attempts = [
      serviceAccounts.retrieve(account, params),
      serviceAccounts.update(account, { ...params, name: "Taken over" }),
      serviceAccounts.delete(account, params),
      serviceAccounts.apiKeys.create(account, params),
      apiKeys.retrieve(key, params),
      apiKeys.delete(key, params),
    ];
    const answers = await Promise.allSettled(attempts);
    for (const answer of answers) expect(answer).toMatchObject({ status: "rejected", reason: { status: 404 } });
  });

  test("shows the installation's configuration only to the default organization", async () => {
    expect(await service.sendForeign("GET", "/configuration")).toMatchObject({
      status: 403,
      body: { error: { code: "permission_denied" } },
    });
    expect(await service.send("GET", "/configuration")).toMatchObject({
      status: 200,
      body: { object: "organization.configuration", file: null, settings: [], models: [] },
    });
  });

  test("lists only the caller's resources and rejects another organization's cursor", async () => {
    const own = JSON.stringify(await everything());
    for (const { method, pattern } of service.routes) {
      // Settings and models belong to the installation, and every organization has the built-in roles.
      if (method !== "GET" || /:|\/(configuration|models|roles)$/.test(pattern)) continue;
      const path = pattern.replace("/v1/organization", "");
      // Usage reports require a time and have no entries with IDs.
      const range = ["/requests/histogram", "/usage"].includes(path) ? "?start_time=0&end_time=1" : "";
      const query = /^\/(usage\/|costs)/.test(path) ? "?start_time=0" : range;
      const { status, body } = await service.sendForeign("GET", path + query);
      expect(status).toBe(200);
      if (query !== "") continue;
      for (const { id } of body.data ?? []) expect(own).not.toContain(id);
      const theirs = (await service.send("GET", path)).body.data?.[0]?.id;
      if (theirs === undefined) continue;
      const stolen = await service.sendForeign("GET", `${path}?after=${theirs}`);
      expect(stolen).toMatchObject({ status: 400, body: { error: { param: "after" } } });
    }
  });
});
