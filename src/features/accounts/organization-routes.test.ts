/** The administration API over HTTP, mostly through the official client. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { type Administration, startAdministration } from "../../../test/support/service/administration.ts";
import { OPERATOR } from "./audit/audit.ts";

const databases = useDatabases();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Administration;
  beforeAll(async () => {
    service = await startAdministration(await databases.create(kind));
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const admin = () => service.admin.admin.organization;
  const newProject = async () => (await admin().projects.create({ name: "Team" })).id;

  test("creates, lists, retrieves, renames and archives projects", async () => {
    const created = await admin().projects.create({ name: "Team 🦉" });
    expect(created).toEqual({
      id: expect.stringMatching(/^proj_/),
      object: "organization.project",
      name: "Team 🦉",
      created_at: expect.any(Number),
      archived_at: null,
      status: "active",
      external_key_id: null,
    });
    expect(created.created_at).toBeGreaterThan(1_700_000_000);
    expect(created.created_at).toBeLessThan(10_000_000_000);
    expect(await admin().projects.retrieve(created.id)).toEqual(created);
    expect(await admin().projects.update(created.id, { name: "Renamed" })).toEqual({ ...created, name: "Renamed" });
    expect(await admin().projects.update(created.id, {})).toEqual({ ...created, name: "Renamed" });
    const listed = await admin().projects.list();
    expect(listed.data).toContainEqual({ ...created, name: "Renamed" });

    const archived = await admin().projects.archive(created.id);
    expect(archived).toMatchObject({ id: created.id, status: "archived", archived_at: expect.any(Number) });
    expect((await admin().projects.list()).data.map(({ id }) => id)).not.toContain(created.id);
    expect((await admin().projects.list({ include_archived: true })).data).toContainEqual(archived);
    await expect(admin().projects.update(created.id, { name: "No" })).rejects.toMatchObject({ status: 400 });
    await expect(admin().projects.serviceAccounts.create(created.id, { name: "No" })).rejects.toMatchObject({
      status: 400,
    });
  });

  test("archives a project once and audits it once when two admins archive it concurrently", async () => {
    const id = await newProject();
    const answers = await Promise.all(Array.from({ length: 4 }, () => admin().projects.archive(id)));
    expect(new Set(answers.map(({ archived_at }) => archived_at)).size).toBe(1);
    const events = await admin().auditLogs.list({ event_types: ["project.archived"], resource_ids: [id] });
    expect(events.data).toHaveLength(1);
  });

  test("does not archive the default project", async () => {
    const first = (await admin().projects.list({ limit: 1 })).data[0];
    await expect(admin().projects.archive(first?.id ?? "")).rejects.toMatchObject({ status: 400 });
  });

  test("creates service accounts with a working key and revokes it with the account", async () => {
    const project = await newProject();
    const { serviceAccounts } = admin().projects;
    const created = await serviceAccounts.create(project, { name: "Builder", expires_in_seconds: 3_600 });
    expect(created).toMatchObject({
      id: expect.stringMatching(/^svc_acct_/),
      object: "organization.project.service_account",
      name: "Builder",
      role: "member",
      api_key: { object: "organization.project.service_account.api_key", value: expect.stringMatching(/^sk-/) },
    });
    const { api_key, ...account } = created;
    expect(api_key?.expires_at).toBe((api_key?.created_at ?? 0) + 3_600);
    expect(await service.accounts.authenticate(api_key?.value)).toMatchObject({ projectId: project, kind: "project" });
    expect(await serviceAccounts.retrieve(created.id, { project_id: project })).toEqual(account);
    expect((await serviceAccounts.list(project)).data).toEqual([account]);
    const updated = await serviceAccounts.update(created.id, { project_id: project, name: "Renamed", role: "owner" });
    expect(updated).toEqual({ ...account, name: "Renamed", role: "owner" });

    const deleted = await serviceAccounts.delete(created.id, { project_id: project });
    expect(deleted).toEqual({ id: created.id, object: "organization.project.service_account.deleted", deleted: true });
    await expect(service.accounts.authenticate(api_key?.value)).rejects.toMatchObject({ code: "invalid_api_key" });
    expect((await serviceAccounts.list(project)).data).toEqual([]);
    const again = serviceAccounts.retrieve(created.id, { project_id: project });
    await expect(again).rejects.toMatchObject({ status: 404 });
  });

  test("creates a service account without a key when asked to", async () => {
    const project = await newProject();
    const only = { name: "Keyless", create_service_account_only: true };
    const created = await admin().projects.serviceAccounts.create(project, only);
    expect(created).toMatchObject({ role: "none", api_key: null });
    const both = admin().projects.serviceAccounts.create(project, { ...only, expires_in_seconds: 5 });
    await expect(both).rejects.toMatchObject({ status: 400, param: "expires_in_seconds" });
  });

  test("creates, lists, changes and deletes a project's keys, and shows a secret only once", async () => {
    const project = await newProject();
    const { id: account } = await admin().projects.serviceAccounts.create(project, { name: "Builder" });
    const params = { project_id: project, name: "Nightly", expires_in_seconds: 60 };
    const created = await admin().projects.serviceAccounts.apiKeys.create(account, params);
    expect(created).toEqual({
      id: expect.stringMatching(/^key_/),
      object: "organization.project.service_account.api_key",
      name: "Nightly",
      created_at: expect.any(Number),
      expires_at: created.created_at + 60,
      value: expect.stringMatching(/^sk-/),
    });
    await service.accounts.authenticate(created.value);

    const { apiKeys } = admin().projects;
    const listed = await apiKeys.list(project);
    expect(listed.data.map(({ name }) => name)).toEqual(["Builder", "Nightly"]);
    const shown = await apiKeys.retrieve(created.id, { project_id: project });
    expect(shown).toEqual({
      object: "organization.project.api_key",
      id: created.id,
      name: "Nightly",
      redacted_value: `sk-...${created.value.slice(-4)}`,
      created_at: created.created_at,
      expires_at: created.expires_at,
      last_used_at: null,
      last_used_address: null,
      last_used_client: null,
      owner_project_access: "active",
      owner: {
        type: "service_account",
        service_account: { id: account, name: "Builder", role: "member", created_at: expect.any(Number) },
      },
    });
    expect((await apiKeys.list(project, { owner_project_access: "inactive" })).data).toEqual([]);
    const ofAccount = await service.send("GET", `/projects/${project}/service_accounts/${account}/api_keys`);
    expect(ofAccount.body.data).toEqual(listed.data);
    expect(JSON.stringify([listed.data, ofAccount.body])).not.toContain(created.value);

    const longer = await apiKeys.update(created.id, { project_id: project, expires_in_seconds: 3_600 });
    expect(longer.expires_at).toBeGreaterThanOrEqual(created.created_at + 3_600);
    expect(await apiKeys.update(created.id, { project_id: project, scopes: [] })).toEqual(longer);
    const path = `/projects/${project}/api_keys/${created.id}`;
    const endless = await service.send("POST", path, { expires_in_seconds: null });
    expect(endless).toMatchObject({ status: 200, body: { id: created.id, expires_at: null } });
    expect((await service.send("GET", path)).body.expires_at).toBeNull();
    const restricting = apiKeys.update(created.id, { project_id: project, scopes: ["api.all.read"] });
    await expect(restricting).rejects.toMatchObject({ status: 400, param: "scopes" });
    const nothing = apiKeys.update(created.id, { project_id: project });
    await expect(nothing).rejects.toMatchObject({ status: 400, param: "expires_in_seconds" });

    const deleted = await apiKeys.delete(created.id, { project_id: project });
    expect(deleted).toEqual({ id: created.id, object: "organization.project.api_key.deleted", deleted: true });
    await expect(service.accounts.authenticate(created.value)).rejects.toMatchObject({ code: "invalid_api_key" });
    await expect(apiKeys.delete(created.id, { project_id: project })).rejects.toMatchObject({ status: 404 });
  });

  test("shows a key without a service account as the operator's", async () => {
    const first = (await admin().projects.list({ limit: 1 })).data[0];
    const keys = await admin().projects.apiKeys.list(first?.id ?? "");
    expect(keys.data).toMatchObject([{ owner: { type: "user", user: { id: "operator", role: "owner" } } }]);
  });

  test("creates, lists, retrieves and deletes admin keys, but never the last one", async () => {
    const { adminAPIKeys } = admin();
    const created = await adminAPIKeys.create({ name: "Second", expires_in_seconds: 60 });
    expect(created).toMatchObject({
      object: "organization.admin_api_key",
      name: "Second",
      value: expect.stringMatching(/^sk-admin-/),
      redacted_value: `sk-admin-...${created.value.slice(-4)}`,
      expires_at: created.created_at + 60,
      owner: { type: "user", object: "organization.user", role: "owner" },
    });
    const { value, ...shown } = created;
    expect(await service.accounts.authenticate(value)).toMatchObject({ kind: "admin" });
    expect(await adminAPIKeys.retrieve(created.id)).toEqual(shown);
    const [first] = (await adminAPIKeys.list({ order: "desc" })).data;
    expect(first).toEqual(shown);
    expect(await adminAPIKeys.delete(created.id)).toEqual({
      id: created.id,
      object: "organization.admin_api_key.deleted",
      deleted: true,
    });
    await expect(service.accounts.authenticate(value)).rejects.toMatchObject({ code: "invalid_api_key" });

    const [last] = (await adminAPIKeys.list()).data;
    await expect(adminAPIKeys.delete(last?.id ?? "")).rejects.toMatchObject({ status: 400 });
  });

  test("keeps one admin key when two admins delete each other's concurrently", async () => {
    const { accounts } = service;
    const { organization, adminKey } = await accounts.organizations.create(OPERATOR, "Two admins");
    const scope = { organizationId: organization.id, kind: "admin" } as const;
    const actor = { keyId: adminKey.key.id, ipAddress: undefined, userAgent: undefined, access: undefined };
    const second = await accounts.apiKeys.create(actor, { scope, name: "Second", expiresInSeconds: undefined });
    const deletions = [adminKey, second].map(({ key }) => accounts.apiKeys.revoke(actor, scope, key.id));
    const outcomes = (await Promise.allSettled(deletions)).map(({ status }) => status);
    expect(outcomes.sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("sets, shows and removes model permissions of projects and organizations", async () => {
    const project = await newProject();
    const { modelPermissions } = admin().projects;
    const open = { object: "project.model_permissions", mode: "deny_list", model_ids: [] };
    expect(await modelPermissions.retrieve(project)).toEqual(open);
    const model_ids = ["one", "openai/*", "group:team-a", "one"];
    const set = await modelPermissions.update(project, { mode: "allow_list", model_ids });
    expect(set).toEqual({ ...open, mode: "allow_list", model_ids: ["one", "openai/*", "group:team-a"] });
    expect(await modelPermissions.retrieve(project)).toEqual(set);

    const { api_key } = await admin().projects.serviceAccounts.create(project, { name: "Builder" });
    const mayUse = async (id: string) => {
      const caller = await service.accounts.authenticate(api_key?.value);
      return (await service.accounts.callers.modelAccess(caller))({ id, aliases: [], accessGroups: [] });
    };
    expect([await mayUse("one"), await mayUse("openai/gpt"), await mayUse("two")]).toEqual([true, true, false]);
    const ofAll = await service.send("POST", "/model_permissions", { mode: "deny_list", model_ids: ["one"] });
    expect(ofAll.body).toEqual({ object: "organization.model_permissions", mode: "deny_list", model_ids: ["one"] });
    expect(await mayUse("one")).toBe(false);
    expect((await service.send("GET", "/model_permissions")).body).toEqual(ofAll.body);
    const removed = await service.send("DELETE", "/model_permissions");
    expect(removed.body).toEqual({ object: "organization.model_permissions.deleted", deleted: true });
    expect(await mayUse("one")).toBe(true);

    await modelPermissions.update(project, { mode: "allow_list", model_ids: [] });
    expect(await mayUse("one")).toBe(false);
    const deleted = { object: "project.model_permissions.deleted", deleted: true };
    expect(await modelPermissions.delete(project)).toEqual(deleted);
    expect(await modelPermissions.delete(project)).toEqual({ ...deleted, deleted: false });
    expect(await mayUse("two")).toBe(true);
  });

  test("audits who changed what, when and from where", async () => {
    const project = await admin().projects.create(
      { name: "Audited" },
      { headers: { "user-agent": "an auditor's tool" } },
    );
    await admin().projects.update(project.id, { name: "Renamed" });
    await admin().projects.modelPermissions.update(project.id, { mode: "allow_list", model_ids: ["one"] });
    const { data } = await admin().auditLogs.list({ project_ids: [project.id] });
    expect(data.map(({ type }) => type)).toEqual(["project.updated", "project.updated", "project.created"]);
    const [permissions, renamed, created] = data;
    const [key] = (await admin().adminAPIKeys.list()).data;
    expect(created).toMatchObject({
      id: expect.stringMatching(/^audit_log_/),
      project: { id: project.id, name: "Audited" },
      actor: {
        type: "api_key",
        api_key: { id: key?.id },
        session: { ip_address: "127.0.0.1", user_agent: "an auditor's tool" },
      },
      "project.created": { id: project.id, data: { name: "Audited", title: "Audited" } },
    });
    expect(created?.effective_at).toBeGreaterThanOrEqual(project.created_at);
    expect(renamed).toMatchObject({ "project.updated": { changes_requested: { title: "Renamed" } } });
    expect(permissions?.["project.updated"]).toEqual({
      id: project.id,
      changes_requested: { model_permissions: { mode: "allow_list", model_ids: ["one"] } },
    });
  });

  test("audits nothing for a rejected change", async () => {
    const before = await admin().auditLogs.list({ limit: 1 });
    const refused = admin().projects.serviceAccounts.create("proj_none", { name: "No" });
    await expect(refused).rejects.toMatchObject({ status: 404 });
    expect((await admin().auditLogs.list({ limit: 1 })).data).toEqual(before.data);
  });
});
