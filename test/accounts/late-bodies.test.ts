/** Requests whose key ends, or whose user loses a role, while the client still sends the body. */

import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ALL_PERMISSIONS } from "../../src/contracts/permissions.ts";
import { OPERATOR } from "../../src/features/accounts/audit/audit.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };
const NEW_KEY = { name: "Late" };

let service: InProcessService;
let organizationId: string;
beforeAll(async () => {
  service = await startService({ config: "builtin_models: false\n" });
  ({ organizationId } = await service.accounts.defaultScope("admin"));
});
afterAll(() => service?.stop());

/** Sends a request but the last byte of its body; returns a function that sends that, and resolves with the answer. */
async function begin(origin: string, path: string, headers: Record<string, string>, payload: object | string) {
  const { hostname, port } = new URL(origin);
  const body = typeof payload === "string" ? payload : JSON.stringify(payload);
  const socket = connect(Number(port), hostname).setEncoding("utf8");
  const all = {
    host: `${hostname}:${port}`,
    "content-type": "application/json",
    ...headers,
    "content-length": String(body.length),
    connection: "close",
    // Answered once the server has the headers.
    expect: "100-continue",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  let received = "";
  const isContinued = new Promise<void>((resolve) => {
    socket.on("data", (data) => {
      received += data;
      if (received.includes("100 Continue")) resolve();
    });
  });
  // An answer may come, and the connection end, before the last byte is sent.
  const ended = once(socket, "close");
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  await Promise.race([isContinued, ended]);
  expect(received).toContain("100 Continue");
  socket.write(body.slice(0, -1));
  return async () => {
    socket.write(body.slice(-1));
    await ended;
    const [, answer = ""] = received.split("100 Continue\r\n\r\n");
    return { status: Number(answer.split(" ")[1]), body: answer };
  };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function newAdminKey(userId?: string) {
  const scope = { organizationId, kind: "restricted", ...(userId !== undefined && { userId }) } as const;
  const wanted = { scope, name: "Admin", expiresInSeconds: undefined, permissions: [...ALL_PERMISSIONS] };
  const { key, secret } = await service.accounts.apiKeys.create(OPERATOR, wanted);
  const value = secret.reveal();
  const used = await service.inject({ url: "/v1/organization/admin_api_keys", headers: bearer(value) });
  expect(used.statusCode).toBe(200);
  return { id: key.id, value };
}

const asAdmin = (method: "POST" | "DELETE", path: string, payload?: object) =>
  service.inject({
    method,
    url: `/v1/organization${path}`,
    headers: bearer(service.adminKey),
    ...(payload && { payload }),
  });

test("a revoked key does nothing more", async () => {
  const { id, value } = await newAdminKey();
  const finish = await begin(service.origin, "/v1/organization/admin_api_keys", bearer(value), NEW_KEY);
  expect((await asAdmin("DELETE", `/admin_api_keys/${id}`)).statusCode).toBe(200);
  expect(await finish()).toMatchObject({ status: 401, body: expect.stringContaining("invalid_api_key") });
});

test("nor does a session that has ended", async () => {
  const { id, value } = await newAdminKey();
  // The name of the cookie has the port.
  const signIn = await fetch(`${service.origin}/console/session`, {
    method: "POST",
    headers: { ...SAME_ORIGIN, "content-type": "application/json" },
    body: JSON.stringify({ key: value }),
  });
  const cookie = signIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const headers = { ...SAME_ORIGIN, cookie };
  const finish = await begin(service.origin, "/v1/organization/admin_api_keys", headers, NEW_KEY);
  expect((await asAdmin("DELETE", `/admin_api_keys/${id}`)).statusCode).toBe(200);
  expect(await finish()).toMatchObject({ status: 401, body: expect.stringContaining("session_ended") });
});

test("a former owner invites no other owner", async () => {
  const people = await Promise.all(
    ["ada@example.com", "grace@example.com"].map(async (email) => {
      const wanted = { organizationId, email, role: "owner", projects: [], expiresInSeconds: undefined } as const;
      const { token } = await service.accounts.invites.create(OPERATOR, wanted);
      return service.accounts.invites.accept(OPERATOR, { token: token.reveal(), email, name: "Person" });
    }),
  );
  const { id } = people[0] as (typeof people)[number];
  const { value } = await newAdminKey(id);
  const invite = { email: "friend@example.com", role: "owner" };
  const finish = await begin(service.origin, "/v1/organization/invites", bearer(value), invite);
  expect((await asAdmin("POST", `/users/${id}`, { role: "reader" })).statusCode).toBe(200);
  expect(await finish()).toMatchObject({ status: 403, body: expect.stringContaining("insufficient_permissions") });
});

test.each([1, 2])("a revoked key reaches no model, with %i workers", async (workers) => {
  const deployment = "{ engine: openai-compatible, base_url: 'http://127.0.0.1:9/v1' }";
  const models = `[{ id: distant, task: chat, deployments: [${deployment}] }]`;
  const config = `builtin_models: false\nserver: { workers: ${workers} }\nmodels: ${models}\n`;
  const running = await startService({ config });
  try {
    const admin = administrator(running);
    const { id: project_id } = await admin.projects.create({ name: "Team" });
    const { api_key: key } = await admin.projects.serviceAccounts.create(project_id, { name: "Nightly" });
    const chat = { model: "distant", messages: [{ role: "user", content: "Go." }] };
    const headers = bearer(key?.value ?? "");
    const early = await begin(running.origin, "/v1/chat/completions", headers, chat);
    expect((await early()).status).toBeGreaterThanOrEqual(500);
    const finish = await begin(running.origin, "/v1/chat/completions", headers, chat);
    await admin.projects.apiKeys.delete(key?.id ?? "", { project_id });
    expect(await finish()).toMatchObject({ status: 401, body: expect.stringContaining("invalid_api_key") });
  } finally {
    await running.stop();
  }
});

const UPLOADS = {
  "/v1/files": { purpose: "user_data" },
  "/v1/audio/transcriptions": { model: "hears" },
};

test.each(Object.entries(UPLOADS))("a revoked key uploads nothing to %s", async (path, fields) => {
  const running = await startService({ config: HEARING });
  try {
    const admin = administrator(running);
    const { id: project_id } = await admin.projects.create({ name: "Team" });
    const { api_key: key } = await admin.projects.serviceAccounts.create(project_id, { name: "Nightly" });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set("file", new File([new Uint8Array(2_000).fill(65)], "late.wav"));
    const { headers, body } = await encoded(form);
    const finish = await begin(running.origin, path, { ...bearer(key?.value ?? ""), ...headers }, body);
    await admin.projects.apiKeys.delete(key?.id ?? "", { project_id });
    expect(await finish()).toMatchObject({ status: 401, body: expect.stringContaining("invalid_api_key") });
    const listed = await running.fetch("/v1/files", { headers: bearer(running.apiKey) });
    expect(await listed.json()).toMatchObject({ data: [] });
  } finally {
    await running.stop();
  }
});

const HEARING =
  "builtin_models: false\nmodels: [{ id: hears, task: transcription, deployments: [{ engine: scripted, replies: [{ text: Hello }] }] }]\n";

async function encoded(form: FormData) {
  const response = new Response(form);
  return { headers: { "content-type": response.headers.get("content-type") ?? "" }, body: await response.text() };
}
