/** What an administrator prepared ends with the key or the right by which it was prepared. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { ALL_PERMISSIONS } from "../../src/contracts/permissions.ts";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { type InProcessService, startService } from "../support/service/service.ts";

const HEADERS = { "sec-fetch-site": "same-origin" };
let service: InProcessService;
let organizationId: string;
let count = 0;
beforeAll(async () => {
  service = await startService({ config: "builtin_models: false\n" });
  ({ organizationId } = await service.accounts.defaultScope("admin"));
});
afterAll(() => service?.stop());

async function newUser(role: "owner" | "reader") {
  count += 1;
  const email = `person-${count}@example.com`;
  const wanted = { organizationId, email, role, projects: [], expiresInSeconds: undefined };
  const { token } = await service.accounts.invites.create(OPERATOR, wanted);
  return service.accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: "Person" });
}

/** Creates an admin key: of a user, with a list of all permissions. */
async function newAdminKey(userId?: string) {
  const name = { name: "Admin", expiresInSeconds: undefined };
  const { key, secret } = await service.accounts.apiKeys.create(
    OPERATOR,
    userId === undefined
      ? { ...name, scope: { organizationId, kind: "admin" } }
      : { ...name, scope: { organizationId, kind: "restricted", userId }, permissions: [...ALL_PERMISSIONS] },
  );
  return { id: key.id, value: secret.reveal() };
}

async function send(key: string, method: "POST" | "DELETE", path: string, payload?: object) {
  const headers = { authorization: `Bearer ${key}` };
  const url = `/v1/organization${path}`;
  const answer = await service.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
  expect([path, answer.statusCode]).toEqual([path, 200]);
  return answer.json();
}

const signIn = async (path: string, payload: object) =>
  service.inject({ method: "POST", url: `/console/${path}`, headers: HEADERS, payload });
const PASSWORD = "correct horse battery";

const PREPARED = {
  "a sign-in code": async (key: string) => {
    const { code } = await send(key, "POST", "/console_sign_in_codes");
    return () => signIn("session", { code });
  },
  "a password link of an owner": async (key: string) => {
    const { id } = await newUser("owner");
    const { token } = await send(key, "POST", `/users/${id}/password_link`, {});
    return () => signIn("password", { token, password: PASSWORD });
  },
};

test.each(Object.entries(PREPARED))("%s works while the key works", async (_name, prepare) => {
  const { value } = await newAdminKey();
  const open = await prepare(value);
  expect((await open()).statusCode).toBe(200);
});

test.each(Object.entries(PREPARED))("%s ends with the key", async (_name, prepare) => {
  const { id, value } = await newAdminKey();
  const open = await prepare(value);
  await send(service.adminKey, "DELETE", `/admin_api_keys/${id}`);
  expect((await open()).statusCode).toBe(401);
});

test("a password link of an owner ends with the role of its author", async () => {
  const author = await newUser("owner");
  await newUser("owner");
  const { value } = await newAdminKey(author.id);
  const open = await PREPARED["a password link of an owner"](value);
  await send(service.adminKey, "POST", `/users/${author.id}`, { role: "reader" });
  expect((await open()).statusCode).toBe(401);
});
