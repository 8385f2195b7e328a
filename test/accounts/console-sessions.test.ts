/** Sessions of the console over HTTP: signing in, what the cookie may do, and what ends a session. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({
    config: `builtin_models: false
limits: { failed_authentications_per_minute: 20 }
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
});
afterAll(() => service.stop());

const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };

async function call(path: string, init: RequestInit & { cookie?: string; headers?: Record<string, string> } = {}) {
  const { cookie, headers, ...rest } = init;
  const isJson = rest.body !== undefined;
  return fetch(`${service.origin}${path}`, {
    ...rest,
    headers: {
      ...SAME_ORIGIN,
      ...(cookie !== undefined && { cookie }),
      ...(isJson && { "content-type": "application/json" }),
      ...headers,
    },
  });
}

async function signIn(credential: { key: string } | { code: string }, cookie?: string) {
  const response = await call("/console/session", {
    method: "POST",
    body: JSON.stringify(credential),
    ...(cookie !== undefined && { cookie }),
  });
  const setCookie = response.headers.get("set-cookie") ?? "";
  return { status: response.status, body: await response.json(), setCookie, cookie: setCookie.split(";")[0] ?? "" };
}

const CHAT = JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello" }] });

test("exchanges a project key for a cookie that scripts cannot read and other sites do not send", async () => {
  const { status, body, setCookie, cookie } = await signIn({ key: service.apiKey });
  expect(status).toBe(200);
  expect(body).toMatchObject({ signed_in: true, is_admin: false, project: { name: "Default project" } });
  expect(setCookie).toMatch(/^parlance_session_\d+=[\w-]{43}; Max-Age=43\d{3}; Path=\/; HttpOnly; SameSite=Strict$/i);
  expect(setCookie).not.toContain(service.apiKey);
  expect((await call("/v1/models", { cookie })).status).toBe(200);
  expect((await call("/v1/chat/completions", { method: "POST", body: CHAT, cookie })).status).toBe(200);
  const administration = await call("/v1/organization/projects", { cookie });
  expect(administration.status).toBe(403);
});

test("signs in once with the link of `parlance console`, with both of the operator's keys", async () => {
  // The output of the start is not a terminal.
  expect(service.output()).toContain(`Console    ${service.origin}/ (parlance console prints`);
  expect(service.output()).not.toContain("sign-in?code");
  const environment = { PARLANCE_DATA_DIR: service.dataDirectory, PARLANCE_CONFIG: service.configFile };
  const { stdout } = await runParlance(["console"], { cwd: service.dataDirectory, environment });
  const [, code = ""] = /^http:\S+#\/sign-in\?code=(\S+)$/m.exec(stdout) ?? [];
  const { body, cookie } = await signIn({ code });
  expect(body).toMatchObject({ signed_in: true, is_admin: true, project: { name: "Default project" } });
  expect((await call("/v1/organization/projects", { cookie })).status).toBe(200);
  expect((await call("/v1/chat/completions", { method: "POST", body: CHAT, cookie })).status).toBe(200);
  const again = await signIn({ code });
  expect(again).toMatchObject({ status: 401, setCookie: "", body: { error: { code: "invalid_sign_in_code" } } });
});

test("rejects requests of other sites and other ports of the same host", async () => {
  const { cookie } = await signIn({ key: service.adminKey });
  const project = (headers: Record<string, string>) =>
    fetch(`${service.origin}/v1/organization/projects`, {
      method: "POST",
      body: JSON.stringify({ name: "Forged" }),
      headers: { "content-type": "application/json", cookie, ...headers },
    });
  const forged = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { origin: "https://attacker.example" },
    { origin: "http://127.0.0.1:1" },
    { origin: "null" },
    { origin: service.origin.replace("http:", "https:") },
    { "sec-fetch-site": "same-origin", origin: "https://attacker.example" },
    {},
  ];
  for (const headers of forged) {
    const response = await project(headers as Record<string, string>);
    expect([headers, response.status]).toEqual([headers, 403]);
    expect(await response.json()).toMatchObject({ error: { code: "cross_site_request" } });
  }
  const read = await call("/v1/organization/projects", { cookie, headers: { "sec-fetch-site": "same-site" } });
  expect(read.status).toBe(403);
  expect((await project({ origin: service.origin })).status).toBe(200);
  const signInElsewhere = await call("/console/session", {
    method: "POST",
    body: JSON.stringify({ key: service.apiKey }),
    headers: { "sec-fetch-site": "cross-site" },
  });
  expect(signInElsewhere.status).toBe(403);
});

test("does not accept a session's token as an API key", async () => {
  const { cookie } = await signIn({ key: service.apiKey });
  const [, token] = cookie.split("=");
  const response = await fetch(`${service.origin}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(401);
});

test("ends the session when it is signed out, and the previous one when a key is added", async () => {
  const first = await signIn({ key: service.adminKey });
  const second = await signIn({ key: service.apiKey }, first.cookie);
  expect(second.body).toMatchObject({ is_admin: true, project: { name: "Default project" } });
  expect(second.cookie).not.toBe(first.cookie);
  const reused = await call("/v1/organization/projects", { cookie: first.cookie });
  expect(await reused.json()).toMatchObject({ error: { code: "session_ended" } });
  const left = await call("/console/session", { method: "DELETE", cookie: second.cookie });
  expect(left.headers.get("set-cookie")).toMatch(/^parlance_session_\d+=; Max-Age=0/i);
  expect((await call("/v1/models", { cookie: second.cookie })).status).toBe(401);
  expect(await (await call("/console/session", { cookie: second.cookie })).json()).toMatchObject({ signed_in: false });
});

test("keeps the sessions of two services on one host apart", async () => {
  const { cookie, setCookie } = await signIn({ key: service.apiKey });
  const port = new URL(service.origin).port;
  expect(setCookie).toMatch(new RegExp(`^parlance_session_${port}=`));
  // A browser sends what another service of the host has set, too.
  const jar = `parlance_session_1=${"x".repeat(43)}; ${cookie}; parlance_session=${"y".repeat(43)}`;
  expect(await (await call("/console/session", { cookie: jar })).json()).toMatchObject({ signed_in: true });
});

test("does not adopt a token that the browser already had", async () => {
  const fixed = `parlance_session_${new URL(service.origin).port}=${"x".repeat(43)}`;
  const { cookie } = await signIn({ key: service.apiKey }, fixed);
  expect(cookie).not.toBe(fixed);
  expect((await call("/v1/models", { cookie: fixed })).status).toBe(401);
});

test("ends the oldest session of a key when it has 50", async () => {
  const { cookie: first } = await signIn({ key: service.apiKey });
  const isSignedIn = async (cookie: string) => (await call("/v1/models", { cookie })).status === 200;
  for (let index = 0; index < 49; index += 1) await signIn({ key: service.apiKey });
  expect(await isSignedIn(first)).toBe(true);
  const { cookie: last } = await signIn({ key: service.apiKey });
  await eventually(async () => expect(await isSignedIn(first)).toBe(false));
  expect(await isSignedIn(last)).toBe(true);
});

test("ends the session when its key is revoked, and writes both sign-ins to the audit log", async () => {
  const admin = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await call(`/v1/organization${path}`, { method, headers, ...sent });
    // biome-ignore lint/suspicious/noExplicitAny: the test looks into answers of several shapes
    return (await response.json()) as any;
  };
  const project = await admin("POST", "/projects", { name: "Console" });
  const account = await admin("POST", `/projects/${project.id}/service_accounts`, { name: "Guest" });
  const { cookie } = await signIn({ key: account.api_key.value });
  expect((await call("/v1/models", { cookie })).status).toBe(200);
  await admin("DELETE", `/projects/${project.id}/api_keys/${account.api_key.id}`);
  await eventually(async () => {
    const response = await call("/v1/models", { cookie });
    expect(await response.json()).toMatchObject({ error: { code: "session_ended" } });
  });
  const log = await admin("GET", `/audit_logs?event_types=login.succeeded&resource_ids=${account.api_key.id}`);
  expect(log.data[0]).toMatchObject({ type: "login.succeeded", "login.succeeded": { id: account.api_key.id } });
});

test("serves the page with a policy that allows no other host, no inline script and no foreign frame", async () => {
  const [first, second] = await Promise.all([call("/"), call("/")]);
  expect(first?.status).toBe(200);
  const policy = first?.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("frame-src 'self'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(policy).not.toBe(second?.headers.get("content-security-policy"));
  const page = (await first?.text()) ?? "";
  const [, script = ""] = /src="\.(\/assets\/[\w.-]+\.js)"/.exec(page) ?? [];
  const asset = await call(script, { headers: { "accept-encoding": "br" } });
  expect(Object.fromEntries(asset.headers)).toMatchObject({
    "content-encoding": "br",
    "cache-control": "public, max-age=31536000, immutable",
  });
});

test("serves a frame for artifacts that reaches neither the service nor another host", async () => {
  const frame = await call("/console/artifact");
  expect(frame.status).toBe(200);
  const policy = (frame.headers.get("content-security-policy") ?? "").split("; ");
  expect(policy).toEqual(expect.arrayContaining(["sandbox allow-scripts", "default-src 'none'", "form-action 'none'"]));
  expect(policy.filter((each) => /connect-src|https?:|\*|allow-same-origin|allow-top/.test(each))).toEqual([]);
  expect(frame.headers.get("x-frame-options")).toBe("SAMEORIGIN");
});

test.each([
  "/?next=https://attacker.example/",
  "//attacker.example/",
  "/%5C%5Cattacker.example/",
  "/assets",
  "/assets//attacker.example/",
  "/assets/..%2F..%2F%2Fattacker.example",
  "/console/session?redirect=//attacker.example",
])("redirects nowhere: %s", async (path) => {
  const { status, headers } = await call(path, { redirect: "manual" });
  expect([status < 300 || status >= 400, headers.get("location"), headers.get("refresh")]).toEqual([true, null, null]);
});

test.each(["/assets/", "/assets/%5c", "/assets/missing.js", "/assets/%00", "/assets//", "/assets/..%2Findex.html"])(
  "answers %s with an error of the client",
  async (path) => {
    const answer = await call(path);
    // A path with NUL is refused before it is looked up.
    const [status, message] = path === "/assets/%00" ? [400, "could not be understood"] : [404, "Invalid URL"];
    expect([path, answer.status]).toEqual([path, status]);
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
  },
);

test("has neither page nor sessions with `server.console: false`", async () => {
  const without = await startServiceProcess({ config: "builtin_models: false\nserver: { console: false }\n" });
  try {
    expect(without.output()).not.toContain("Console");
    expect((await fetch(`${without.origin}/`)).status).toBe(404);
    expect((await fetch(`${without.origin}/console/session`, { headers: SAME_ORIGIN })).status).toBe(404);
  } finally {
    await without.stop();
  }
});

test("limits how often a key signs in", async () => {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const created = await call("/v1/organization/projects", {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "Often" }),
  });
  const { id } = (await created.json()) as { id: string };
  const account = await call(`/v1/organization/projects/${id}/service_accounts`, {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "Loop" }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the test looks for one field
  const key = ((await account.json()) as any).api_key.value;
  for (let count = 0; count < 100; count += 1) expect((await signIn({ key })).status).toBe(200);
  const refused = await signIn({ key });
  expect(refused).toMatchObject({ status: 429, setCookie: "", body: { error: { code: "too_many_attempts" } } });
  expect((await signIn({ key: service.adminKey })).status).toBe(200);
});

// Last, because it uses up the limit.
test("limits wrong keys and codes like those of the API", async () => {
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1) {
    statuses.push((await signIn({ key: "sk-wrong" })).status, (await signIn({ code: "wrong" })).status);
  }
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
});
