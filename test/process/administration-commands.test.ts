/** Commands on accounts: through the running service, and over its database where none runs. */

import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { tryServiceLock } from "../../src/kernel/process/service-file.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    aliases: [polly]
    price: { prompt: "0.001", completion: "0.01" }
    deployments: [{ engine: scripted, echo: true }]
`;

const databases = useDatabases();

/** A data directory and database that outlive their services. */
interface Installation extends AsyncDisposable {
  path: string;
  environment: Record<string, string>;
  start(): Promise<ServiceProcess>;
}

async function install(url?: string, directory?: TemporaryDirectory): Promise<Installation> {
  const { path, [Symbol.asyncDispose]: remove } = directory ?? (await temporaryDirectory());
  const file = join(path, "parlance.yaml");
  await writeFile(file, CONFIG);
  const database = url === undefined ? undefined : { DATABASE_URL: url };
  const environment = { PARLANCE_DATA_DIR: path, PARLANCE_CONFIG: file, ...database };
  return {
    path,
    environment,
    start: () => startServiceProcess({ config: CONFIG, environment }),
    [Symbol.asyncDispose]: remove,
  };
}

interface Finished {
  code: number;
  output: string;
}

/** Runs a command in this process, which is faster than a process for each. */
async function parlance(environment: Record<string, string>, ...words: string[]): Promise<Finished> {
  for (const name of ["DATABASE_URL", "PARLANCE_CONFIG", "PARLANCE_ADMIN_KEY"]) vi.stubEnv(name, environment[name]);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((text: string) => void lines.push(text));
  vi.spyOn(console, "error").mockImplementation((text: string) => void lines.push(text));
  try {
    return { code: await runCommand(words), output: lines.join("\n") };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}

const COMMANDS: readonly string[] = [
  "organizations create Org",
  "organizations list",
  "organizations list --json",
  "organizations archive Org",
  "projects create Team",
  "projects rename Team Team_B",
  "projects list --json",
  "projects limit Team_B polly --requests-per-minute 3 --json",
  "projects allow Team_B polly",
  "projects budget Team_B 2.5",
  "service-accounts create Bot --project Team_B",
  "service-accounts list --project Team_B",
  "keys create --json --name CI --expires-in 1d --service-account Bot --project Team_B",
  "keys create --json --name Plain",
  "keys create --name Admin --admin",
  "keys list --project Team_B",
  "keys revoke Admin",
  "service-accounts delete Bot --project Team_B",
  "projects archive Team_B",
  "projects list --archived",
  "keys revoke nobody",
  "projects rename nobody x",
  "projects allow Team_B none",
  "keys create --name ",
  "usage",
  "usage --json --organization Org",
  "api /v1/organization/projects?limit=1",
  'api /v1/organization/projects --data {"name":"Team_C"}',
  "api /v1/organization/projects --organization Org",
  "api /v1/organizations",
  "api -X delete /v1/organization/projects/nobody",
  "api /v1/organization/projects --data {",
  "api organization/projects",
];

/** What each command prints, with IDs, keys and times replaced. */
async function transcribe({ environment }: Installation): Promise<string> {
  const parts: string[] = [];
  for (const words of COMMANDS) {
    const { code, output } = await parlance(environment, ...words.split(" "));
    parts.push(`$ ${words}\n${output}\n${code}\n`);
  }
  return parts
    .join("")
    .replaceAll(/(org|proj|key|svc_acct)_[0-9a-f]+/g, "$1_ID")
    .replaceAll(/sk-(admin-)?(\.\.\.[\w-]{4}|[\w-]{43})/g, "sk-$1SECRET")
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:]+Z/g, "TIME")
    .replaceAll(/\b1\d{9}\b/g, "SECONDS");
}

async function startAndStop(installation: Installation): Promise<void> {
  const service = await installation.start();
  expect(await service.stop()).toBe(0);
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  const newUrl = async () => (await databases.create(kind)).url?.reveal();

  test("prints the same with a running service and without one, as the operator", async () => {
    await using one = await install(await newUrl());
    await using other = await install(await newUrl());
    const service = await one.start();
    const running = await transcribe(one);
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const answer = await fetch(`${service.origin}/v1/organization/audit_logs?limit=10`, { headers });
    await service.stop();
    await startAndStop(other);
    expect(await transcribe(other)).toBe(running);
    expect(running).toContain("$ keys revoke Admin\nRevoked key_ID.\n0\n");
    expect(running).toContain('"requests_per_minute": 3,');
    expect(running).toContain("$ usage --json --organization Org\n[]\n0\n");
    expect(running).toContain('"name": "Team_C"');
    expect(running).toContain("error: Invalid URL (DELETE /v1/organization/projects/nobody)");
    expect(running).toContain("error: organization/projects is no path");
    const { data } = (await answer.json()) as { data: { actor: unknown }[] };
    const operator = { type: "session", session: expect.objectContaining({ user: { id: "operator" } }) };
    expect(data.map(({ actor }) => actor)).toEqual(Array.from({ length: 10 }, () => operator));
  });
});

test("leave no key behind, and administer another service with its admin key", async () => {
  await using installation = await install();
  const service = await installation.start();
  await parlance(installation.environment, "keys", "list");
  const { logger } = await databases.create("sqlite");
  const database = openDatabase({ url: undefined, file: join(installation.path, "parlance.sqlite"), logger });
  const operators = await database.run((executor) =>
    executor.selectFrom("apiKeys").selectAll().where("kind", "=", "operator").execute(),
  );
  await database.close();
  expect(operators).toEqual([]);
  await using elsewhere = await install();
  const words = ["keys", "list", "--url", `${service.origin}/v1`];
  expect((await parlance(elsewhere.environment, ...words)).output).toContain("use --key or the variable");
  const remote = await parlance({ ...elsewhere.environment, PARLANCE_ADMIN_KEY: service.adminKey }, ...words);
  expect(remote).toMatchObject({ code: 0, output: expect.stringContaining("PARLANCE_ADMIN_KEY") });
  const project = await parlance(elsewhere.environment, ...words, "--key", service.apiKey);
  expect(project).toMatchObject({ code: 1, output: expect.stringContaining("needs an admin key") });
  const withKey = await parlance(elsewhere.environment, "keys", "list", "--key", service.adminKey);
  expect(withKey).toMatchObject({ code: 1, output: expect.stringContaining("No service runs") });
  await service.stop();
});

test("reach the other replica of a shared database", async () => {
  const url = (await databases.create("postgresql")).url?.reveal();
  await using one = await install(url);
  await using other = await install(url);
  const [first, second] = [await one.start(), await other.start()];
  const created = JSON.parse((await parlance(one.environment, "keys", "create", "--name", "CI", "--json")).output);
  const statusAt = async (service: ServiceProcess) =>
    (await fetch(`${service.origin}/v1/models`, { headers: { authorization: `Bearer ${created.value}` } })).status;
  expect(await Promise.all([first, second].map(statusAt))).toEqual([200, 200]);
  expect((await parlance(other.environment, "keys", "revoke", created.id)).code).toBe(0);
  expect(await statusAt(second)).toBe(401);
  await expect.poll(() => statusAt(first)).toBe(401);
  // A machine without a replica uses the database.
  await using third = await install(url);
  expect((await parlance(third.environment, "keys", "list")).output).not.toContain(created.id);
  await first.stop();
  await second.stop();
});

test("do not send a key to another program at the address of a killed service", async () => {
  await using installation = await install();
  const service = await installation.start();
  await service.stop("SIGKILL");
  const requests: string[] = [];
  const program = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((listening) => program.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(program.address() as AddressInfo).port}`;
  // The PID of the killed service belongs to another process by now.
  const stale = { origin, pid: process.pid, host: hostname() };
  await writeFile(join(installation.path, "service.json"), JSON.stringify(stale));
  expect((await parlance(installation.environment, "keys", "list")).output).toContain("PARLANCE_ADMIN_KEY");
  expect(requests).toEqual([]);
  program.close();
});

test("wait for a service that starts or stops", async () => {
  await using installation = await install();
  await startAndStop(installation);
  const lock = tryServiceLock(installation.path);
  if (lock === undefined || lock === "taken") throw new Error("the lock is not free");
  const polled = Promise.withResolvers<void>();
  const draining = createServer((_request, response) => {
    polled.resolve();
    response.writeHead(503).end();
  });
  await new Promise<void>((listening) => draining.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(draining.address() as AddressInfo).port}`;
  const running = { origin, pid: process.pid, host: hostname() };
  await writeFile(join(installation.path, "service.json"), JSON.stringify(running));
  const listing = parlance(installation.environment, "projects", "list");
  await polled.promise;
  lock.release();
  expect(await listing).toMatchObject({ code: 0, output: expect.stringContaining("Default project") });
  draining.close();
});

test("use the database beside a service of another container, whose address means nothing here", async () => {
  await using installation = await install();
  await startAndStop(installation);
  const lock = tryServiceLock(installation.path);
  if (lock === undefined || lock === "taken") throw new Error("the lock is not free");
  const elsewhere = { origin: "http://127.0.0.1:1", pid: process.pid, host: `not-${hostname()}` };
  await writeFile(join(installation.path, "service.json"), JSON.stringify(elsewhere));
  expect((await parlance(installation.environment, "projects", "list")).output).toContain("Default project");
  lock.release();
});
