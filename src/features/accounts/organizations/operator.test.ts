/** What the operator's commands may do beyond the keys of organizations. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../../test/support/databases/databases.ts";
import { type Administration, startAdministration } from "../../../../test/support/service/administration.ts";

const databases = useDatabases();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Administration;
  beforeAll(async () => {
    service = await startAdministration(await databases.create(kind));
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("creates, lists and archives organizations, and is the actor in the audit log", async () => {
    const created = await service.sendOperator("POST", "/organizations", { name: "Équipe 🦉" });
    expect(created).toMatchObject({
      status: 200,
      body: { object: "organization", name: "Équipe 🦉", is_default: false, archived_at: null },
    });
    const { id, admin_api_key } = created.body;
    expect(await service.accounts.authenticate(admin_api_key.value)).toMatchObject({ organizationId: id });
    const listed = await service.sendOperator("GET", "/organizations");
    expect(listed.body.data).toContainEqual(expect.objectContaining({ id, archived_at: null }));
    expect(listed.body.data.filter((each: { is_default: boolean }) => each.is_default)).toHaveLength(1);

    const headers = { "openai-organization": id };
    const project = (await service.sendOperator("POST", "/organization/projects", { name: "A" }, headers)).body;
    const archived = await service.sendOperator("POST", `/organizations/${id}/archive`);
    expect(archived.body).toMatchObject({ id, archived_at: expect.any(Number) });
    await expect(service.accounts.authenticate(admin_api_key.value)).rejects.toMatchObject({ code: "invalid_api_key" });

    const projects = await service.sendOperator(
      "GET",
      "/organization/projects?include_archived=true",
      undefined,
      headers,
    );
    expect(projects.body.data).toEqual([{ ...project, status: "archived", archived_at: archived.body.archived_at }]);
    const late = await service.sendOperator("POST", "/organization/projects", { name: "B" }, headers);
    expect(late).toMatchObject({ status: 400, body: { error: { message: "The organization is archived." } } });
    const { body } = await service.sendOperator("GET", "/organization/audit_logs", undefined, headers);
    expect(body.data.map(({ type }: { type: string }) => type).sort()).toEqual([
      "api_key.created",
      "organization.archived",
      "organization.created",
      "project.archived",
      "project.created",
    ]);
    for (const { actor } of body.data)
      expect(actor).toMatchObject({ type: "session", session: { user: { id: "operator" } } });
  });

  test("refuses an empty name, an unknown organization and the default one", async () => {
    const send = service.sendOperator;
    expect(await send("POST", "/organizations", { name: " " })).toMatchObject({
      status: 400,
      body: { error: { param: "name" } },
    });
    expect((await send("POST", "/organizations/org_none/archive")).status).toBe(404);
    const first = (await send("GET", "/organizations")).body.data.find(
      (each: { is_default: boolean }) => each.is_default,
    );
    expect((await send("POST", `/organizations/${first.id}/archive`)).status).toBe(400);
  });

  test.each([
    ["POST", ""],
    ["GET", ""],
    ["POST", "/org_any/archive"],
  ])("refuses the keys of organizations: %s /v1/organizations%s", async (method, path) => {
    const send = (key: string | undefined) =>
      service.sendOperator(method, `/organizations${path}`, method === "GET" ? undefined : { name: "No" }, {
        authorization: `Bearer ${key}`,
      });
    const { organizationId, projectId = "" } = await service.accounts.defaultScope("project");
    const scope = { organizationId, projectId, kind: "project" } as const;
    const actor = { keyId: undefined, ipAddress: undefined, userAgent: undefined, access: undefined };
    const project = await service.accounts.apiKeys.create(actor, { scope, name: "Key", expiresInSeconds: undefined });
    const admin = await service.accounts.apiKeys.create(actor, {
      scope: { organizationId, kind: "admin" },
      name: "Key",
      expiresInSeconds: undefined,
    });
    for (const { secret } of [project, admin]) {
      expect(await send(secret.reveal())).toMatchObject({
        status: 403,
        body: { error: { message: expect.stringContaining("Only the operator") } },
      });
    }
    expect((await send("sk-operator-wrong")).status).toBe(401);
  });

  test("administers the organization that a header names, and by default the default one", async () => {
    const headers = { "openai-organization": service.foreignId };
    const { body: theirs } = await service.sendOperator("GET", "/organization", undefined, headers);
    expect(theirs).toMatchObject({ id: service.foreignId, is_default: false, default_project: null });
    expect((await service.sendForeign("GET", "")).body).toEqual(theirs);
    const { body: own } = await service.sendOperator("GET", "/organization");
    expect(own).toMatchObject({ is_default: true, default_project: { name: "Default project" } });

    const project = (await service.sendOperator("POST", "/organization/projects", { name: "Theirs" }, headers)).body;
    expect((await service.sendForeign("GET", `/projects/${project.id}`)).body).toEqual(project);
    expect((await service.send("GET", `/projects/${project.id}`)).status).toBe(404);
    expect((await service.sendOperator("GET", "/organization/overview", undefined, headers)).body).toMatchObject({
      object: "organization.overview",
      spend: { limits: [] },
    });
    const unknown = await service.sendOperator("GET", "/organization", undefined, {
      "openai-organization": "org_none",
    });
    expect(unknown).toMatchObject({
      status: 404,
      body: { error: { message: "There is no organization `org_none`." } },
    });
  });

  test("has a key that no list shows, that signs in nowhere, and that ends", async () => {
    const { organizationId } = await service.accounts.defaultScope("admin");
    const { secret, end } = await service.accounts.operatorKeys.create(organizationId);
    const key = secret.reveal();
    const caller = await service.accounts.authenticate(key);
    expect(caller).toMatchObject({ isOperator: true, organizationId });
    for (const path of ["/api_keys", "/admin_api_keys"]) {
      expect(JSON.stringify((await service.send("GET", path)).body)).not.toContain("Command line");
    }
    const actor = { keyId: undefined, ipAddress: undefined, userAgent: undefined };
    await expect(service.accounts.consoleSessions.signIn(actor, caller, undefined)).rejects.toMatchObject({
      kind: "unauthenticated",
    });
    await end();
    await expect(service.accounts.authenticate(key)).rejects.toMatchObject({ code: "invalid_api_key" });
  });

  test("lists the keys of all projects and the admin keys, and creates keys without a service account", async () => {
    const project = (await service.send("POST", "/projects", { name: "Keys" })).body;
    const created = await service.send("POST", `/projects/${project.id}/api_keys`, {
      name: "Nightly",
      expires_in_seconds: 60,
    });
    const { value, ...shown } = created.body;
    expect(await service.accounts.authenticate(value)).toMatchObject({ projectId: project.id, kind: "project" });
    expect((await service.send("GET", `/projects/${project.id}/api_keys`)).body.data).toEqual([shown]);
    const { body: all } = await service.send("GET", "/api_keys?limit=100");
    expect(all.data).toContainEqual(
      expect.objectContaining({ id: shown.id, kind: "project", project_id: project.id, service_account_id: null }),
    );
    expect(all.data).toContainEqual(expect.objectContaining({ kind: "admin", project_id: null }));
    expect(JSON.stringify(all)).not.toContain(value);
    const { body: ofProject } = await service.send("GET", `/api_keys?project_id=${project.id}`);
    expect(ofProject.data.map(({ id }: { id: string }) => id)).toEqual([shown.id]);
    const { body: admins } = await service.send("GET", "/api_keys?kind=admin&limit=100");
    expect(new Set(admins.data.map(({ kind: each }: { kind: string }) => each))).toEqual(new Set(["admin"]));
    expect((await service.send("GET", "/api_keys?search=nightLY")).body.data).toHaveLength(1);
    expect((await service.send("GET", "/api_keys?project_id=proj_none")).status).toBe(404);
    const archived = (await service.send("POST", "/projects", { name: "Gone" })).body;
    await service.send("POST", `/projects/${archived.id}/archive`);
    expect((await service.send("POST", `/projects/${archived.id}/api_keys`, { name: "No" })).status).toBe(400);
  });

  test("refuses totals of usage over more than 31 days", async () => {
    expect((await service.send("GET", "/usage?start_time=0&end_time=2678400")).body).toEqual({
      object: "list",
      data: [],
    });
    expect(await service.send("GET", "/usage?start_time=0&end_time=2678401")).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("has 32 days; the maximum is 31") } },
    });
    expect((await service.send("GET", "/usage?start_time=5&end_time=5")).status).toBe(400);
  });
});
