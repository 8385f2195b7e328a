/** Organizations, projects and keys through the official client. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { useDatabases } from "./support/databases.ts";
import { eventually } from "./support/eventually.ts";
import { runParlance } from "./support/run-parlance.ts";
import { type Service, type ServiceOptions, startService } from "./support/service.ts";

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, echo: true }]
  - id: owl
    task: chat
    access_groups: [team-a]
    deployments: [{ engine: scripted, echo: true }]
`;

const databases = useDatabases();
const running: Service[] = [];

async function start(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({ config: CONFIG, ...options });
  running.push(service);
  return service;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

function administrator(service: Service, adminKey = service.adminKey) {
  const client = new OpenAI({ baseURL: service.baseUrl, apiKey: null, adminAPIKey: adminKey, maxRetries: 0 });
  return client.admin.organization;
}

function caller(service: Service, apiKey = service.apiKey, headers: { organization?: string; project?: string } = {}) {
  return new OpenAI({ baseURL: service.baseUrl, apiKey, maxRetries: 0, ...headers });
}

const say = (client: OpenAI, model: string) =>
  client.chat.completions.create({ model, messages: [{ role: "user", content: "Polly." }] });

const listed = async (client: OpenAI) => (await Array.fromAsync(client.models.list())).map(({ id }) => id);

const INVALID = { status: 401, code: "invalid_api_key" };

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
  await sleep(1_000);
  await expect(listed(caller(service, api_key?.value))).rejects.toMatchObject(INVALID);
  await expect(theirs.projects.list()).rejects.toMatchObject(INVALID);
  expect(await listed(caller(service))).toEqual(["parrot", "owl"]);
});

describe("two services on one PostgreSQL database", () => {
  const kind = "postgresql";
  let environment: Record<string, string>;
  let data: string;
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), "parlance-shared-"));
    const { url } = await databases.create(kind);
    environment = { PARLANCE_DATA_DIR: data, ...(url && { DATABASE_URL: url.reveal() }) };
  });
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  test("enforce each other's revocations within a second", async () => {
    const [here, there] = await Promise.all([start({ environment }), start({ environment })]);
    expect(here.process.pid).not.toBe(there.process.pid);
    const admin = administrator(here);
    const project = await admin.projects.create({ name: "Team A" });
    const builder = await admin.projects.serviceAccounts.create(project.id, { name: "Builder" });
    const revoked = await admin.projects.serviceAccounts.apiKeys.create(builder.id, { project_id: project.id });
    const [keyHere, keyThere] = [caller(here, revoked.value), caller(there, revoked.value)];
    const ofProject = caller(there, builder.api_key?.value);
    for (const client of [keyHere, keyThere, ofProject]) expect(await listed(client)).toEqual(["parrot", "owl"]);

    await admin.projects.modelPermissions.update(project.id, { mode: "deny_list", model_ids: ["parrot"] });
    const deprivedAt = performance.now();
    const deprivation = await untilOtherwise(deprivedAt, () => listed(ofProject).then((ids) => ids.includes("parrot")));

    await admin.projects.apiKeys.delete(revoked.id, { project_id: project.id });
    const revokedAt = performance.now();
    await expect(listed(keyHere)).rejects.toMatchObject(INVALID);
    const revocation = await untilOtherwise(revokedAt, () =>
      listed(keyThere).then(
        () => true,
        () => false,
      ),
    );
    await expect(listed(keyThere)).rejects.toMatchObject(INVALID);

    await admin.projects.archive(project.id);
    const archivedAt = performance.now();
    const archiving = await untilOtherwise(archivedAt, () =>
      listed(ofProject).then(
        () => true,
        () => false,
      ),
    );

    const pids = `${here.process.pid} and ${there.process.pid}`;
    console.log(
      `${kind}, processes ${pids}: deprived after ${deprivation} ms, revoked ${revocation}, archived ${archiving}`,
    );
    for (const milliseconds of [deprivation, revocation, archiving]) expect(milliseconds).toBeLessThan(1_000);
  });
});

test("a key revoked by a command stops working in the service within a second", async () => {
  const service = await start({});
  const surroundings = { cwd: tmpdir(), environment: { PARLANCE_DATA_DIR: service.dataDirectory } };
  const created = await runParlance(["keys", "create", "--json"], surroundings);
  const { id, value } = JSON.parse(created.stdout);
  expect(await listed(caller(service, value))).toEqual(["parrot", "owl"]);
  await runParlance(["keys", "revoke", id], surroundings);
  const revocation = await untilOtherwise(performance.now(), () =>
    listed(caller(service, value)).then(
      () => true,
      () => false,
    ),
  );
  expect(revocation).toBeLessThan(1_000);
});

/** Milliseconds from `changedAt`, the answer to the change, until the last request that saw the old state began. */
async function untilOtherwise(changedAt: number, isStill: () => Promise<boolean>): Promise<number> {
  let last = 0;
  for (;;) {
    const askedAt = performance.now();
    if (!(await isStill())) return Math.round(last);
    last = askedAt - changedAt;
    if (last > 10_000) return last;
    await sleep(10);
  }
}

describe("when PostgreSQL is unavailable", () => {
  test("keeps cached keys working, answers 503 for new ones, and recovers without a restart", async () => {
    const { url } = await databases.create("postgresql");
    const service = await start({ environment: { DATABASE_URL: url?.reveal() ?? "" } });
    const unknown = caller(service, `sk-${"u".repeat(43)}`);
    expect(await listed(caller(service))).toContain("parrot");
    await databases.postgres.stop();
    try {
      await sleep(1_000);
      expect((await say(caller(service), "parrot")).model).toBe("parrot");
      await expect(listed(unknown)).rejects.toMatchObject({ status: 503, code: "database_unavailable" });
      await expect(administrator(service).projects.list()).rejects.toMatchObject({ status: 503 });
      const ready = await service.fetch("/health/ready");
      expect(ready.status).toBe(503);
      expect(await ready.text()).toContain("database");
    } finally {
      await databases.postgres.start();
    }
    await eventually(async () => {
      await expect(listed(unknown)).rejects.toMatchObject(INVALID);
      expect((await administrator(service).projects.list()).data).toHaveLength(1);
      expect((await service.fetch("/health/ready")).status).toBe(200);
    });
  });

  test("a service started without its database reports it and recovers", async () => {
    const { url } = await databases.create("postgresql");
    await databases.postgres.stop();
    let service: Service;
    try {
      service = await start({ until: "listening", environment: { DATABASE_URL: url?.reveal() ?? "" } });
      expect((await service.fetch("/health/live")).status).toBe(200);
      expect((await service.fetch("/health/ready")).status).toBe(503);
      await expect(listed(caller(service))).rejects.toMatchObject({ status: 503, code: "database_unavailable" });
    } finally {
      await databases.postgres.start();
    }
    await eventually(async () => {
      expect((await service.fetch("/health/ready")).status).toBe(200);
      expect(await listed(caller(service))).toEqual(["parrot", "owl"]);
    });
  });
});
