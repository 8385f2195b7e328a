/** Budgets of users: over all keys of a user, and visible to the user alone. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

/** Each output token costs ten cents; prompts are free. */
const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, price: { completion: "0.1" }, deployments: [{ engine: scripted, replies: [{ text: Polly }] }] }
`;

let service: InProcessService;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service?.stop());

/** A member of the default project with two keys of that project and one for their own account. */
async function addMember(name: string) {
  const { accounts } = service;
  const { organizationId, projectId = "" } = await accounts.defaultScope("project");
  const email = `${name}@example.com`;
  const projects = [{ id: projectId, role: "member" }];
  const invited = { organizationId, email, role: "reader" as const, projects, expiresInSeconds: undefined };
  const { token } = await accounts.invites.create({ ...OPERATOR, access: undefined }, invited);
  const user = await accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name });
  const newKey = async (scope: { kind: "admin" } | { kind: "project"; projectId: string }) => {
    const key = { scope: { organizationId, userId: user.id, ...scope }, name, expiresInSeconds: undefined };
    return (await accounts.apiKeys.create(OPERATOR, key)).secret.reveal();
  };
  const keys = [await newKey({ kind: "project", projectId }), await newKey({ kind: "project", projectId })] as const;
  return { id: user.id, keys, ownKey: await newKey({ kind: "admin" }) };
}

async function send(method: "GET" | "POST", url: string, key: string, payload?: object) {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await service.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
  return { status: answer.statusCode, body: answer.json() };
}

const say = (key: string) =>
  send("POST", "/v1/chat/completions", key, {
    model: "parrot",
    messages: [{ role: "user", content: "Hm." }],
    max_completion_tokens: 1,
  });

test("bounds each user over all their keys, and shows users their own budgets only", async () => {
  const [ada, bob] = [await addMember("ada"), await addMember("bob")];
  const budget = { subject: { type: "user" }, interval: "day", threshold_amount: 20, name: "Everyone" };
  expect((await send("POST", "/v1/organization/budgets", service.adminKey, budget)).status).toBe(200);
  expect([(await say(ada.keys[0])).status, (await say(ada.keys[1])).status]).toEqual([200, 200]);
  const refused = await say(ada.keys[0]);
  expect([refused.status, refused.body.error.message]).toEqual([
    429,
    expect.stringContaining(`of the user ${ada.id} is reached`),
  ]);
  expect((await say(bob.keys[0])).status).toBe(200);
  // A key without a user has no such budget.
  expect((await say(service.apiKey)).status).toBe(200);

  const own = await send("GET", `/v1/organization/users/${ada.id}/budgets`, ada.ownKey);
  expect(own.body.data).toMatchObject([
    {
      ...{ name: "Everyone", interval: "day", threshold_amount: 20, subject: { type: "user", id: ada.id } },
      usage: { spent: { value: 0.2, currency: "usd" }, percent: 100 },
    },
  ]);
  expect((await send("GET", `/v1/organization/users/${bob.id}/budgets`, ada.ownKey)).status).toBe(403);
  expect((await send("GET", "/v1/organization/budgets", ada.ownKey)).status).toBe(403);
  const all = await send("GET", `/v1/organization/users/${bob.id}/budgets`, service.adminKey);
  expect(all.body.data).toMatchObject([{ subject: { id: bob.id }, usage: { spent: { value: 0.1 } } }]);
});
