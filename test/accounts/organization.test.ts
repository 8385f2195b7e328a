/** Organizations, projects and keys through the official client. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { startService } from "../support/service/service.ts";
import { administrator, caller, INVALID, listed, say, useTeamServices } from "../support/service/team-services.ts";

const start = useTeamServices(startService);

test("creates, uses, restricts and revokes a team's key", async () => {
  const service = await start();
  const admin = administrator(service);
  const project = await admin.projects.create({ name: "Team A" });
  const account = await admin.projects.serviceAccounts.create(project.id, { name: "Builder" });
  const scope = { project_id: project.id };
  const key = await admin.projects.serviceAccounts.apiKeys.create(account.id, { ...scope, name: "Nightly" });
  const client = caller(service, key.value);

  expect((await say(client, "parrot")).choices[0]?.message.content).toBe("Polly.");
  expect(await listed(client)).toEqual(["parrot", "owl"]);

  await admin.projects.modelPermissions.update(project.id, { mode: "allow_list", model_ids: ["group:team-a"] });
  expect(await listed(client)).toEqual(["owl"]);
  await expect(client.models.retrieve("parrot")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  await expect(say(client, "parrot")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  // A suggestion does not reveal models that the key may not use.
  await expect(say(client, "parot")).rejects.toMatchObject({ message: expect.not.stringContaining("parrot") });
  expect((await say(client, "owl")).model).toBe("owl");
  // The default project is unaffected.
  expect(await listed(caller(service))).toEqual(["parrot", "owl"]);

  await admin.projects.modelPermissions.update(project.id, { mode: "allow_list", model_ids: [] });
  await expect(listed(client)).rejects.toMatchObject({ status: 403, type: "invalid_request_error" });
  await admin.projects.modelPermissions.delete(project.id);
  expect(await listed(client)).toEqual(["parrot", "owl"]);

  await admin.projects.apiKeys.delete(key.id, scope);
  await expect(say(client, "parrot")).rejects.toMatchObject(INVALID);
  expect((await say(caller(service, account.api_key?.value), "parrot")).model).toBe("parrot");
  await admin.projects.archive(project.id);
  await expect(say(caller(service, account.api_key?.value), "parrot")).rejects.toMatchObject(INVALID);
});

test("rejects permissions that name an unknown model", async () => {
  const service = await start();
  const { projects } = administrator(service);
  const { id } = await projects.create({ name: "Team A" });
  const wrong = projects.modelPermissions.update(id, { mode: "allow_list", model_ids: ["parrot", "parrots"] });
  await expect(wrong).rejects.toMatchObject({ status: 400, param: "model_ids[1]" });
});

test("denies a model that a deny list names by its alias, and a hidden model by its ID", async () => {
  const models = `
models:
  - { id: parrot, task: chat, aliases: [polly], fallbacks: [owl], deployments: [{ engine: scripted, echo: true }] }
  - { id: owl, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: secret, task: chat, hidden: true, aliases: [public], deployments: [{ engine: scripted, echo: true }] }
`;
  const service = await start({ config: `builtin_models: false\n${models}` });
  const { projects } = administrator(service);
  const { data } = await projects.list();
  const id = data[0]?.id ?? "";
  const deny = (...model_ids: string[]) => projects.modelPermissions.update(id, { mode: "deny_list", model_ids });
  const client = caller(service);

  expect((await deny("polly")).model_ids).toEqual(["parrot"]);
  for (const name of ["polly", "parrot"]) await expect(say(client, name)).rejects.toMatchObject({ status: 404 });
  expect((await deny("secret")).model_ids).toEqual(["secret"]);
  await expect(say(client, "public")).rejects.toMatchObject({ status: 404 });
  expect((await say(client, "polly")).model).toBe("parrot");

  const metadata = async () => {
    const answer = await service.fetch("/v1/models?include_metadata=true");
    const { data } = (await answer.json()) as { data: { id: string; metadata: { fallbacks: string[] } }[] };
    return data.find((model) => model.id === "parrot")?.metadata.fallbacks;
  };
  expect(await metadata()).toEqual(["owl"]);
  await deny("owl");
  expect(await metadata()).toEqual([]);
});

test("writes the last use of a key before the service stops", async () => {
  const data = mkdtempSync(join(tmpdir(), "parlance-kept-"));
  try {
    const first = await start({ environment: { PARLANCE_DATA_DIR: data } });
    await say(caller(first), "parrot");
    await first.stop();
    const second = await start({ environment: { PARLANCE_DATA_DIR: data } });
    const admin = administrator(second);
    const [own] = (await admin.projects.list()).data;
    const [key] = (await admin.projects.apiKeys.list(own?.id ?? "")).data;
    expect(key?.last_used_at).toBeGreaterThan(Date.now() / 1000 - 300);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});

test("accepts each kind of key on its own routes only", async () => {
  const service = await start();
  await expect(administrator(service, service.apiKey).projects.list()).rejects.toMatchObject({ status: 403 });
  await expect(say(caller(service, service.adminKey), "parrot")).rejects.toMatchObject({ status: 401 });
  await expect(administrator(service, "sk-admin-unknown").projects.list()).rejects.toMatchObject(INVALID);
});

test("accepts headers that name the key's organization and project, and rejects others", async () => {
  const service = await start();
  const admin = administrator(service);
  const { id: project } = await admin.projects.create({ name: "Team A" });
  const { api_key } = await admin.projects.serviceAccounts.create(project, { name: "Builder" });
  const key = api_key?.value;
  const { headers } = await service.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
  const organization = headers.get("openai-organization") ?? "";
  expect(organization).toMatch(/^org_/);
  expect(await listed(caller(service, key, { organization, project }))).toContain("parrot");

  const otherOrganization = caller(service, key, { organization: "org_other", project });
  await expect(listed(otherOrganization)).rejects.toMatchObject({ status: 401, code: "mismatched_organization" });
  const [other] = (await admin.projects.list()).data;
  const otherProject = caller(service, key, { organization, project: other?.id ?? "" });
  await expect(listed(otherProject)).rejects.toMatchObject({ status: 401, code: "mismatched_project" });

  // An admin key has all projects of its organization.
  const list = (headers: Record<string, string>) => admin.projects.list({}, { headers });
  expect((await list({ "OpenAI-Project": project })).data).toHaveLength(2);
  await expect(list({ "OpenAI-Project": "proj_other" })).rejects.toMatchObject({ code: "mismatched_project" });
});

test("isolates an organization created while the service runs, until it is archived", async () => {
  const service = await start();
  const environment = { PARLANCE_DATA_DIR: service.dataDirectory };
  const surroundings = { cwd: service.dataDirectory, environment };
  const made = await runParlance(["organizations", "create", "Another", "--json"], surroundings);
  const { id, admin_api_key } = JSON.parse(made.stdout);
  const theirs = administrator(service, admin_api_key.value);
  expect((await theirs.projects.list()).data).toEqual([]);
  const project = await theirs.projects.create({ name: "Theirs" });
  const { api_key } = await theirs.projects.serviceAccounts.create(project.id, { name: "Builder" });
  expect(await listed(caller(service, api_key?.value))).toEqual(["parrot", "owl"]);
  await expect(administrator(service).projects.retrieve(project.id)).rejects.toMatchObject({ status: 404 });

  await runParlance(["organizations", "archive", id], surroundings);
  await eventually(() => expect(listed(caller(service, api_key?.value))).rejects.toMatchObject(INVALID));
  await expect(theirs.projects.list()).rejects.toMatchObject(INVALID);
  expect(await listed(caller(service))).toEqual(["parrot", "owl"]);
});
