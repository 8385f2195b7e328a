/** Every route × built-in role × own or foreign project, against the table in docs/reference/roles.md. */

import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { BUILT_IN_ROLES } from "../../src/features/accounts/roles/built-in-roles.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const CONFIG = `
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
ollama: { enabled: true }
code_interpreter: { sandbox: process }
mcp_servers: [{ name: example, url: "http://127.0.0.1:9/mcp", oauth: {} }]
limits: { failed_authentications_per_minute: 100000 }
`;

/** Paths of routes for admin keys. */
const ADMINISTRATION = /^\/(v1\/(organization|projects)|scim)\b/;

interface Row {
  method: string;
  path: string;
  /** What each role may call, in the order of BUILT_IN_ROLES: `all`, `project`, `visible` or nothing. */
  cells: string[];
}

interface Person {
  /** Acts on routes of the organization. */
  adminKey: string;
  /** Key of the own project. */
  projectKey: string;
}

let service: InProcessService;
let rows: Row[];
/** One person for each built-in role. */
let people: Person[];
let [own, foreign] = ["", ""];

beforeAll(async () => {
  service = await startService({ config: CONFIG });
  const { accounts } = service;
  const { organizationId } = await accounts.defaultScope("admin");
  own = (await accounts.projects.create(OPERATOR, organizationId, "Own")).id;
  foreign = (await accounts.projects.create(OPERATOR, organizationId, "Foreign")).id;
  people = [];
  for (const [index, { name, id, isOfProject }] of BUILT_IN_ROLES.entries()) {
    const email = `person-${index}@example.com`;
    const author = { ...OPERATOR, access: undefined };
    const { token } = await accounts.invites.create(author, {
      organizationId,
      email,
      role: isOfProject ? "reader" : (name as "owner" | "member" | "reader"),
      projects: isOfProject ? [{ id: own, role: id }] : [],
      expiresInSeconds: undefined,
    });
    const user = await accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name });
    const keyOf = async (scope: { kind: "admin" } | { kind: "project"; projectId: string }) => {
      const wanted = { scope: { organizationId, userId: user.id, ...scope }, name, expiresInSeconds: undefined };
      return (await accounts.apiKeys.create(OPERATOR, wanted)).secret.reveal();
    };
    people.push({
      adminKey: await keyOf({ kind: "admin" }),
      projectKey: await keyOf({ kind: "project", projectId: own }),
    });
  }
  rows = toRows(await readFile(new URL("../../docs/reference/roles.md", import.meta.url), "utf8"));
});
afterAll(() => service?.stop());

/** Whether an admin key calls the operation. */
function isAdministration({ method, path }: Pick<Row, "method" | "path">): boolean {
  return ADMINISTRATION.test(path) || (method === "DELETE" && path === "/v1/models/{model}");
}

function toRows(page: string): Row[] {
  return page.split("\n").flatMap((line) => {
    const [, route = "", , ...cells] = line.split("|").map((cell) => cell.trim());
    const match = /^`([A-Z]+) (\/\S+)`$/.exec(route);
    if (match === null) return [];
    return [{ method: match[1] ?? "", path: match[2] ?? "", cells: cells.slice(0, BUILT_IN_ROLES.length) }];
  });
}

/** Whether the request got past the decision about permissions. Nothing that it names exists. */
async function isAllowed({ method, path }: Row, key: string, project: string): Promise<boolean> {
  const url = path.replace("{project}", project).replaceAll(/\{\w+\}/g, "none");
  const isOfOrganization = isAdministration({ method, path });
  const { statusCode, body } = await service.inject({
    method: method as "GET",
    // NUL is refused after the decision and before the handler, which would change something.
    url: isOfOrganization ? `${url}?nul=%00` : url,
    headers: { authorization: `Bearer ${key}` },
    ...(method === "POST" && { payload: {} }),
  });
  if (isOfOrganization && statusCode !== 403) expect([url, statusCode]).toEqual([url, 400]);
  if (statusCode === 403 && path.startsWith("/scim/")) {
    expect([url, JSON.parse(body).detail]).toEqual([url, expect.stringContaining("organization.scim.write")]);
  } else if (statusCode === 403 && /^\/v1\/(saved|shared)_chats/.test(path)) {
    const { code } = JSON.parse(body).error;
    // Keys of persons do not reach their chats, whatever the roles allow.
    if (code === "session_required") return true;
    expect([url, code]).toEqual([url, "insufficient_permissions"]);
  } else if (statusCode === 403) {
    expect([url, JSON.parse(body).error.code]).toEqual([url, "insufficient_permissions"]);
  }
  return statusCode !== 403 && statusCode !== 401;
}

test("has every operation that needs a key in the table", async () => {
  const document = (await service.inject({ url: "/openapi.json" })).json();
  const withKeys = Object.entries<Record<string, { security?: Record<string, []>[] }>>(document.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods)
        // An empty requirement means that the key is optional.
        .filter(([, { security = [] }]) => security.every((each) => Object.keys(each).length > 0))
        .filter(([, { security = [] }]) => security.some((each) => "admin_key" in each || "project_key" in each))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  expect(withKeys.length).toBeGreaterThan(140);
  expect(rows.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(withKeys.toSorted());
});

test("allows each role exactly what the table says, in the role's project and in another one", async () => {
  const differences: string[] = [];
  let cells = 0;
  for (const row of rows) {
    const isOfOrganization = isAdministration(row);
    const projects = row.path.includes("{project}") ? [own, foreign] : [own];
    for (const [index, cell] of row.cells.entries()) {
      const person = people[index];
      const key = (isOfOrganization ? person?.adminKey : person?.projectKey) ?? "";
      for (const project of projects) {
        cells += 1;
        const expected = cell === "all" || cell === "visible" || (cell === "project" && project === own);
        if ((await isAllowed(row, key, project)) === expected) continue;
        const where = project === own ? "own" : "foreign";
        differences.push(`${row.method} ${row.path}: ${BUILT_IN_ROLES[index]?.id} in the ${where} project`);
      }
    }
  }
  expect(differences).toEqual([]);
  expect(cells).toBeGreaterThan(1_200);
});

test("a key of a user reaches no other project than its own", async () => {
  const [owner] = people;
  const answer = await service.inject({
    url: `/v1/organization/projects/${foreign}/rate_limits`,
    headers: { authorization: `Bearer ${owner?.projectKey}` },
  });
  expect(answer.statusCode).toBe(403);
});

test("a member sees their own projects, keys and usage only", async () => {
  const index = BUILT_IN_ROLES.findIndex(({ id }) => id === "role_project_member");
  const { adminKey = "", projectKey = "" } = people[index] ?? {};
  const get = async (url: string, key: string) =>
    (await service.inject({ url, headers: { authorization: `Bearer ${key}` } })).json();
  const projects = await get("/v1/organization/projects", adminKey);
  expect(projects.data.map(({ id }: { id: string }) => id)).toEqual([own]);
  const keys = await get(`/v1/organization/projects/${own}/api_keys?limit=100`, adminKey);
  expect(keys.data).toHaveLength(1);
  const [{ projectKey: ownersKey = "" } = {}] = people;
  for (const key of [ownersKey, projectKey]) {
    const payload = { model: "parrot", messages: [{ role: "user", content: "Hello you" }] };
    const headers = { authorization: `Bearer ${key}` };
    const answer = await service.inject({ method: "POST", url: "/v1/chat/completions", headers, payload });
    expect(answer.statusCode).toBe(200);
  }
  const requestsOf = async (key: string) => (await get("/v1/organization/requests?models=parrot", key)).data.length;
  await expect.poll(() => requestsOf(service.adminKey)).toBe(2);
  expect(await requestsOf(adminKey)).toBe(1);
  expect(await requestsOf(projectKey)).toBe(1);
  const usage = await get("/v1/organization/usage/completions?start_time=0&bucket_width=1d&limit=1", adminKey);
  expect(usage.object).toBe("page");
});
