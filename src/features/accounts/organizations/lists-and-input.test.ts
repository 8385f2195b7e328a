/** Common behavior of the administration API's resources: pagination, filters, validation. */

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

  const admin = () => service.admin.admin.organization;
  const newProject = async () => (await admin().projects.create({ name: "Team" })).id;

  test("filters the audit log like OpenAI's API", async () => {
    const { auditLogs } = admin();
    await admin().projects.update(await newProject(), { name: "Renamed" });
    const projectsMade = await auditLogs.list({ event_types: ["project.created", "project.updated"], limit: 100 });
    expect(new Set(projectsMade.data.map(({ type }) => type))).toEqual(new Set(["project.created", "project.updated"]));
    const [newest] = projectsMade.data;
    const at = newest?.effective_at ?? 0;
    const ids = async (effective_at: object) =>
      (await auditLogs.list({ effective_at, limit: 100 })).data.map(({ id }) => id);
    expect(await ids({ gt: at - 1 })).toContain(newest?.id);
    expect(await ids({ gte: at, lte: at })).toContain(newest?.id);
    expect(await ids({ gt: at })).not.toContain(newest?.id);
    expect(await ids({ lt: at })).not.toContain(newest?.id);
    const actor = newest?.actor?.api_key?.id ?? "";
    expect((await auditLogs.list({ actor_ids: [actor], limit: 1 })).data).toHaveLength(1);
    expect((await auditLogs.list({ actor_ids: ["key_none"] })).data).toEqual([]);
    await expect(auditLogs.list({ actor_emails: ["a@example.com"] })).rejects.toMatchObject({ status: 400 });

    const [first, second, third] = (await auditLogs.list({ limit: 3 })).data;
    const between = await auditLogs.list({ before: third?.id ?? "", limit: 1 });
    expect(between.data).toEqual([second]);
    expect((await auditLogs.list({ after: first?.id ?? "", limit: 1 })).data).toEqual([second]);
  });

  test("pages through every list while it grows", async () => {
    const project = await newProject();
    for (let index = 0; index < 7; index += 1) {
      await admin().projects.serviceAccounts.create(project, { name: `Account ${index}` });
    }
    const seen: string[] = [];
    for await (const account of admin().projects.serviceAccounts.list(project, { limit: 2 })) {
      seen.push(account.name);
      if (seen.length === 3) await admin().projects.serviceAccounts.create(project, { name: "Late" });
    }
    expect(seen).toEqual([...Array.from({ length: 7 }, (_each, index) => `Account ${index}`), "Late"]);
    const keys = await Array.fromAsync(admin().projects.apiKeys.list(project, { limit: 3 }));
    expect(keys.map(({ name }) => name)).toEqual(seen);
    const all = await Array.fromAsync(admin().projects.list({ limit: 2, include_archived: true }));
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const events = await Array.fromAsync(admin().auditLogs.list({ limit: 5, project_ids: [project] }));
    expect(new Set(events.map(({ id }) => id)).size).toBe(1 + 8 + 8);
  });

  test("rejects invalid names, expiries, limits, cursors and fields, naming the parameter", async () => {
    const project = await newProject();
    const projectKey = (await admin().projects.serviceAccounts.create(project, { name: "Builder" })).api_key?.id ?? "";
    const refused: [method: string, path: string, body: unknown, param: string][] = [];
    for (const name of ["", "  ", "x".repeat(10_000), "a\u0000b", "a\nb", 7, null, ["a"]]) {
      refused.push(["POST", "/projects", { name }, "name"]);
      refused.push(["POST", `/projects/${project}/service_accounts`, { name }, "name"]);
      refused.push(["POST", "/admin_api_keys", { name }, "name"]);
    }
    for (const expires_in_seconds of [0, -5, 1.5, "60", 1e12]) {
      refused.push(["POST", "/admin_api_keys", { name: "a", expires_in_seconds }, "expires_in_seconds"]);
      refused.push([
        "POST",
        `/projects/${project}/service_accounts`,
        { name: "a", expires_in_seconds },
        "expires_in_seconds",
      ]);
      refused.push([
        "POST",
        `/projects/${project}/api_keys/${projectKey}`,
        { expires_in_seconds },
        "expires_in_seconds",
      ]);
    }
    const lists = ["/projects", "/admin_api_keys", "/audit_logs", `/projects/${project}/api_keys`];
    for (const list of [...lists, `/projects/${project}/service_accounts`]) {
      for (const limit of ["0", "-1", "101", "1000000", "x", "1.5", ""]) {
        refused.push(["GET", `${list}?limit=${limit}`, undefined, "limit"]);
      }
      for (const cursor of ["garbage", "'; drop table projects; --", "%F0%9F%A6%89", "x".repeat(3_000)]) {
        refused.push(["GET", `${list}?after=${cursor}`, undefined, "after"]);
      }
      refused.push(["GET", `${list}?limit=1&limit=2`, undefined, "limit"]);
      refused.push(["GET", `${list}?unknown=1`, undefined, "unknown"]);
    }
    refused.push(["GET", `/projects?after=${projectKey}`, undefined, "after"]);
    refused.push(["GET", `/admin_api_keys?after=${projectKey}`, undefined, "after"]);
    refused.push(["GET", "/projects?include_archived=maybe", undefined, "include_archived"]);
    refused.push(["GET", "/audit_logs?after=a&before=b", undefined, "before"]);
    refused.push(["POST", "/projects", { name: "a", unknown: 1 }, "unknown"]);
    refused.push(["POST", "/projects", { name: "a", geography: "EU" }, "geography"]);
    refused.push(["POST", "/projects", {}, "name"]);
    const permissions = `/projects/${project}/model_permissions`;
    refused.push(["POST", permissions, { mode: "allow_list", model_ids: ["one", "nobody"] }, "model_ids[1]"]);
    refused.push(["POST", permissions, { mode: "allow_list", model_ids: ["group:nobody"] }, "model_ids[0]"]);
    refused.push(["POST", permissions, { mode: "allow_list", model_ids: [1] }, "model_ids[0]"]);
    refused.push(["POST", permissions, { mode: "allow_list", model_ids: Array(1_001).fill("one") }, "model_ids"]);
    refused.push(["POST", permissions, { mode: "everything", model_ids: [] }, "mode"]);
    refused.push(["POST", permissions, { mode: "allow_list" }, "model_ids"]);
    for (const [method, path, body, param] of refused) {
      const answer = await service.send(method, path, body);
      expect([path, body, answer]).toMatchObject([
        path,
        body,
        { status: 400, body: { error: { type: "invalid_request_error", param } } },
      ]);
    }
    for (const body of [undefined, [], "text", null]) {
      expect((await service.send("POST", "/projects", body)).status).toBe(400);
    }
  });

  test("accepts a content type without a body, as OpenAI's Python client sends it", async () => {
    const project = await newProject();
    const account = (await admin().projects.serviceAccounts.create(project, { name: "Builder" })).id;
    const typed = (method: string, path: string) =>
      service.send(method, path, undefined, { "content-type": "application/json" });
    const deleted = await typed("DELETE", `/projects/${project}/service_accounts/${account}`);
    expect(deleted).toMatchObject({ status: 200, body: { id: account, deleted: true } });
    const archived = await typed("POST", `/projects/${project}/archive`);
    expect(archived).toMatchObject({ status: 200, body: { id: project, status: "archived" } });
    const nameless = await typed("POST", "/projects");
    expect(nameless).toMatchObject({ status: 400, body: { error: { type: "invalid_request_error" } } });
  });

  test("rejects a NUL character anywhere in a URL", async () => {
    const project = await newProject();
    const paths = [
      "/projects/a%00b",
      "/projects?after=a%00b",
      `/projects/${project}/api_keys/a%00b`,
      "/audit_logs?before=a%00b",
      "/audit_logs?project_ids[]=a%00b",
      "/usage/completions?start_time=0&models=a%00b",
      "/costs?start_time=0&project_ids=a%00b",
    ];
    for (const path of paths) {
      const answer = await service.send("GET", path);
      expect([path, answer]).toMatchObject([path, { status: 400, body: { error: { type: "invalid_request_error" } } }]);
    }
  });

  test("finds keys by a part of their name or redacted value, in both orders", async () => {
    const project = await newProject();
    for (const name of ["Billing 100%", "billing_2", "Reports", "Ärger"]) {
      await admin().projects.serviceAccounts.create(project, { name });
    }
    const path = `/projects/${project}/api_keys`;
    const names = async (query: string): Promise<string[]> => {
      const { body } = await service.send("GET", `${path}?${query}`);
      return body.data.map(({ name }: { name: string }) => name);
    };
    expect(await names("search=BILL")).toEqual(["Billing 100%", "billing_2"]);
    expect(await names("search=BILL&order=desc")).toEqual(["billing_2", "Billing 100%"]);
    expect(await names(`search=${encodeURIComponent("0%")}`)).toEqual(["Billing 100%"]);
    expect(await names("search=g_")).toEqual(["billing_2"]);
    expect(await names(`search=${encodeURIComponent("Är")}`)).toEqual(["Ärger"]);
    expect(await names(`search=${encodeURIComponent("\\")}`)).toEqual([]);
    const { data, has_more } = (await service.send("GET", `${path}?search=bill&limit=1`)).body;
    expect(has_more).toBe(true);
    expect(await names(`search=bill&limit=1&after=${data[0].id}`)).toEqual(["billing_2"]);
    expect(await names(`search=${data[0].redacted_value.slice(-4)}`)).toContain("Billing 100%");
  });

  test("shows a project key the rate limits of its own project only", async () => {
    const project = await newProject();
    const { api_key } = await admin().projects.serviceAccounts.create(project, { name: "Builder" });
    const headers = { authorization: `Bearer ${api_key?.value}` };
    const own = await service.send("GET", `/projects/${project}/rate_limits`, undefined, headers);
    expect(own).toMatchObject({ status: 200, body: { data: [{ model: "one" }] } });
    const limit = own.body.data[0].id;
    const other = await service.send("GET", `/projects/${await newProject()}/rate_limits`, undefined, headers);
    expect(other).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
    const raise = { max_requests_per_1_minute: 5 };
    const raised = await service.send("POST", `/projects/${project}/rate_limits/${limit}`, raise, headers);
    expect(raised.status).toBe(403);
  });

  test("rejects a project key and a missing key", async () => {
    const project = await newProject();
    const { api_key } = await admin().projects.serviceAccounts.create(project, { name: "Builder" });
    const withProjectKey = await service.send("GET", "/projects", undefined, {
      authorization: `Bearer ${api_key?.value}`,
    });
    expect(withProjectKey).toMatchObject({ status: 403, body: { error: { type: "invalid_request_error" } } });
    const without = await service.send("GET", "/projects", undefined, { authorization: "" });
    expect(without).toMatchObject({ status: 401, body: { error: { code: null } } });
  });
});
