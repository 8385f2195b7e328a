/**
 * Every operation of administrators that changes something, with a key that another replica has revoked a moment ago: the
 * cache of keys still admits the request, and the check at the moment of the change refuses it.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { type RecordedRequest, WireRecorder } from "../support/wire/wire-recorder.ts";
import { WIRE_SCRIPTS } from "../support/wire/wire-scripts.ts";

const CONFIG = `
builtin_models: false
mail: { host: 127.0.0.1, port: 9, from: parlance@example.com }
models:
  - { id: parrot, task: chat, aliases: [parakeet], deployments: [{ engine: scripted, echo: true }] }
  - { id: judge, task: moderation, deployments: [{ engine: guard, family: llama-guard-3, chat: { engine: scripted, echo: true } }] }
  - { id: speech, task: speech, deployments: [{ engine: scripted, speech: { voices: [low] } }] }
`;

const CHANGES_NOTHING: Readonly<Record<string, string>> = {
  "POST /scim/v2/.search": "reads",
  "POST /scim/v2/Users/.search": "reads",
  "POST /scim/v2/Groups/.search": "reads",
  "POST /v1/organization/connections/test": "asks an address",
  "POST /v1/organization/connections/discover": "asks addresses",
  "POST /v1/organization/mcp_servers/test": "asks a server",
};

let service: InProcessService;
let organizationId: string;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  ({ organizationId } = await service.accounts.defaultScope("admin"));
});
afterAll(() => service?.stop());

/** Returns an admin key that has ended in the database and not in the cache. */
async function endedKey(): Promise<string> {
  const scope = { organizationId, kind: "admin" } as const;
  const { key, secret } = await service.accounts.apiKeys.create(OPERATOR, {
    scope,
    name: "Ended",
    expiresInSeconds: undefined,
  });
  const value = secret.reveal();
  const used = await service.inject({ url: "/v1/organization", headers: { authorization: `Bearer ${value}` } });
  expect(used.statusCode).toBe(200);
  await service.accounts.run((executor) =>
    executor.updateTable("apiKeys").set({ revokedAt: Date.now() }).where("id", "=", key.id).execute(),
  );
  return value;
}

interface Change {
  path: string;
  body?: unknown;
}

/** Operations that no script requests, with a body. What they name need not exist: authors are checked before. */
const OTHERS: Readonly<Record<string, object | undefined>> = {
  "DELETE /v1/models/{model}": undefined,
  "DELETE /v1/organization/cache": undefined,
  "DELETE /v1/organization/groups/{group}/users/{user}": undefined,
  "DELETE /v1/organization/models/{id}/pull": undefined,
  "POST /v1/organization/console_sign_in_codes": undefined,
  "POST /v1/organization/projects/{project}/api_keys/{key}/rotate": undefined,
  "POST /v1/organization/projects/{project}/recording": { record_content: "errors" },
  "DELETE /v1/organization/projects/{project}/users/{user}": undefined,
  "POST /v1/organization/projects/{project}/users/{user}": { role: "viewer" },
  "POST /v1/organization/requests/{id}/feedback": { score: 1 },
  "DELETE /v1/organization/users/{user}": undefined,
  "POST /v1/organization/users/{user}": { role: "reader" },
  "POST /v1/organization/users/{user}/password_link": undefined,
  "POST /v1/organization/users/{user}/roles": { role_id: "none" },
  "DELETE /v1/organization/users/{user}/roles/{role}": undefined,
  "POST /v1/projects/{project}/roles/{role}": { role_name: "Other" },
  "DELETE /v1/projects/{project}/roles/{role}": undefined,
  "POST /v1/projects/{project}/users/{user}/roles": { role_id: "none" },
  "DELETE /v1/projects/{project}/users/{user}/roles/{role}": undefined,
};

/** Returns the ID of a request in the history. */
async function requestId(): Promise<string> {
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const payload = { model: "parrot", messages: [{ role: "user", content: "Hello you" }] };
  await service.inject({ method: "POST", url: "/v1/chat/completions", headers, payload });
  let id = "";
  await eventually(async () => {
    const { data } = (await service.inject({ url: "/v1/organization/requests", headers })).json();
    id = data[0].id;
  });
  return id;
}

test("no change is made for an author that has ended, whatever the operation", async () => {
  const templates = service.operations
    .filter(({ method, permission }) => method !== "GET" && /^admin/.test(permission))
    .map(({ method, path }) => ({
      name: `${method} ${path}`,
      pattern: new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, "[^/?]+")}$`),
      parameters: path.split("{").length,
    }))
    .toSorted((one, other) => one.parameters - other.parameters);
  const refused = new Set<string>();
  const made: string[] = [];
  const attempt = async (name: string, { path, body }: Change, headers: Record<string, string> = {}) => {
    const method = name.split(" ", 1)[0] as "POST";
    const ask = async () => {
      const all = { authorization: `Bearer ${await endedKey()}`, ...headers };
      return service.inject({
        method,
        url: path,
        headers: all,
        ...(body !== undefined && { payload: body as object }),
      });
    };
    let answer = await ask();
    // The cache has looked for changes in between.
    while (answer.body.includes("Incorrect API key")) answer = await ask();
    if (answer.body.includes("before this change could be made")) refused.add(name);
    else if (answer.statusCode < 400 && CHANGES_NOTHING[name] === undefined) made.push(name);
  };
  /** Attempts each change before it is made. */
  class AttemptingRecorder extends WireRecorder {
    override async send<Answer>(title: string, route: string, request: RecordedRequest = {}): Promise<Answer> {
      const [method = "", url = ""] = route.split(" ");
      const name = templates.find(({ pattern }) => pattern.test(`${method} ${url.split("?")[0]}`))?.name;
      if (name !== undefined && request.key !== service.apiKey) {
        await attempt(name, { path: url, body: request.body }, request.headers);
      }
      return super.send<Answer>(title, route, request);
    }
  }
  const recorder = new AttemptingRecorder(service.origin);
  for (const script of ["organization", "people", "scim", "budgets", "configuration", "mcp", "models"]) {
    await WIRE_SCRIPTS[script]?.({ recorder, key: service.apiKey, adminKey: service.adminKey });
  }
  const { id: project } = await service.accounts.projects.create(OPERATOR, organizationId, "Team");
  const request = await requestId();
  for (const [name, body] of Object.entries(OTHERS)) {
    const template = name.split(" ")[1]?.replace("{project}", project).replace("requests/{id}", `requests/${request}`);
    await attempt(name, { path: template?.replaceAll(/\{\w+\}/g, "none") ?? "", body });
  }
  expect(made).toEqual([]);
  const changing = templates.map(({ name }) => name).filter((name) => CHANGES_NOTHING[name] === undefined);
  expect(changing.filter((name) => !refused.has(name))).toEqual([]);
});
