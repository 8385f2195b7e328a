/** JSON Web Tokens of a trusted issuer in place of API keys. */

import type { JWTPayload } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type SignOnService, sessionOf, startSignOnService } from "../support/service/sign-on-service.ts";
import { IdentityProvider } from "../support/upstreams/identity-provider.ts";

let issuer: IdentityProvider;
let idp: SignOnService;

beforeAll(async () => {
  issuer = await IdentityProvider.start();
  idp = await startSignOnService({
    config: "",
    signOn: `  renew_after_seconds: 1
  tokens:
    - issuer: ${issuer.issuer}
      audiences: [parlance-api]
      scopes: [parlance.chat]
      clock_tolerance_seconds: 60
      service_accounts:
        - { subject: nightly-report, project: Default project, service_account: Nightly report }
        - { subject: unknown-account, project: Default project, service_account: Missing }
    - { issuer: "PROVIDER", audiences: [parlance-api] }`,
  });
  const [project] = (await idp.admin("GET", "/projects")).data;
  await idp.admin("POST", `/projects/${project.id}/service_accounts`, { name: "Nightly report" });
});
afterAll(async () => {
  await idp?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

const seconds = () => Math.floor(Date.now() / 1000);

type SignOptions = Parameters<IdentityProvider["sign"]>[1];

/** A token of the service account, with changed claims. */
function sign(claims: JWTPayload = {}, options: SignOptions = {}): Promise<string> {
  const common = {
    iss: issuer.issuer,
    aud: "parlance-api",
    scope: "openid parlance.chat",
    iat: seconds(),
    exp: seconds() + 300,
  };
  return issuer.sign({ ...common, sub: "nightly-report", ...claims }, options);
}

async function call(token: string, path = "/v1/chat/completions") {
  const isChat = path.endsWith("/completions");
  const body = JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello" }] });
  const response = await fetch(`${idp.service.origin}${path}`, {
    method: isChat ? "POST" : "GET",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(isChat && { body }),
  });
  const answer = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, ...answer.error };
}

test("calls models as the service account of the token's subject, with whose usage it counts", async () => {
  expect(await call(await sign())).toEqual({ status: 200 });
  expect(await call(await sign({ aud: ["other", "parlance-api"], scope: undefined, scp: ["parlance.chat"] }))).toEqual({
    status: 200,
  });
  const [project] = (await idp.admin("GET", "/projects")).data;
  const keys = await idp.admin("GET", `/projects/${project.id}/api_keys`);
  const key = keys.data.find(({ name }: { name: string }) => name === "Signed in");
  expect(key).toMatchObject({ redacted_value: "no key", owner: { service_account: { name: "Nightly report" } } });
  const administration = await call(await sign(), "/v1/organization/projects");
  expect(administration.status).toBe(403);
});

test.each<[string, number, string, () => Promise<string>]>([
  ["another audience", 401, "`aud`", () => sign({ aud: "another-service" })],
  ["no audience", 401, "`aud`", () => sign({ aud: undefined })],
  ["a missing scope", 403, "lacks the scope `parlance.chat`", () => sign({ scope: "openid" })],
  ["an end two minutes ago", 401, "expired", () => sign({ exp: seconds() - 120 })],
  ["no end", 401, "`exp`", () => sign({ exp: undefined })],
  ["a beginning in two minutes", 401, "becomes valid", () => sign({ nbf: seconds() + 120 })],
  ["the signature of another key", 401, "not signed", () => sign({}, { foreignKey: true })],
  ["no signature", 401, "not signed", () => sign({}, { algorithm: "none" })],
  ["an unknown subject", 401, "No user is linked", () => sign({ sub: "stranger" })],
  ["no subject", 401, "has no claim `sub`", () => sign({ sub: undefined })],
  ["a service account that does not exist", 401, "does not exist", () => sign({ sub: "unknown-account" })],
  ["an issuer that nobody trusts", 401, "Incorrect API key", () => sign({ iss: "https://attacker.example" })],
])("refuses a token with %s, and says so", async (_fault, status, text, forge) => {
  expect(await call(await forge())).toMatchObject({ status, message: expect.stringContaining(text) });
});

test("calls models in the project that the rule named at first, whatever is called so later", async () => {
  expect((await call(await sign())).status).toBe(200);
  const [project] = (await idp.admin("GET", "/projects")).data;
  const decoy = await idp.admin("POST", "/projects", { name: "Another" });
  await idp.admin("POST", `/projects/${decoy.id}/service_accounts`, { name: "Nightly report" });
  await idp.admin("POST", `/projects/${project.id}`, { name: "Renamed" });
  await idp.admin("POST", `/projects/${decoy.id}`, { name: "Default project" });
  expect((await call(await sign())).status).toBe(200);
  const { data } = await idp.admin("GET", `/projects/${decoy.id}/api_keys`);
  expect(data.map(({ name }: { name: string }) => name)).toEqual(["Nightly report"]);
  await idp.admin("POST", `/projects/${decoy.id}`, { name: "Decoy" });
  await idp.admin("POST", `/projects/${project.id}`, { name: "Default project" });
});

test("tolerates a clock that differs by less than a minute", async () => {
  expect((await call(await sign({ exp: seconds() - 30 }))).status).toBe(200);
  expect((await call(await sign({ iat: seconds() + 30, nbf: seconds() + 30 }))).status).toBe(200);
});

test("follows the issuer's new keys, and asks for them once for many tokens with unknown ones", async () => {
  const former = await sign({ jti: "former" });
  await issuer.rotateKeys();
  await eventually(async () => expect((await call(await sign({ jti: "new" }))).status).toBe(200));
  // A new key set no longer has the former key.
  expect((await call(former)).status).toBe(401);
  const requests = () => issuer.requests.filter((path) => path === "/jwks").length;
  const before = requests();
  const tokens = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      sign({ jti: `${index}` }, { foreignKey: true, header: { kid: `${index}` } }),
    ),
  );
  const answers = await Promise.all(tokens.map((token) => call(token)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(requests() - before).toBeLessThanOrEqual(1);
});

test("makes no session, which would outlive the token", async () => {
  // Tokens with short signatures are no longer than an API key may be.
  await issuer.rotateKeys("ES256");
  const short = () => sign({ scope: "parlance.chat" });
  await eventually(async () => expect((await call(await short())).status).toBe(200));
  const response = await fetch(`${idp.service.origin}/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify({ key: await short() }),
  });
  expect([response.status, await response.json()]).toMatchObject([
    403,
    { error: { code: "token_not_accepted", message: expect.stringContaining("API key") } },
  ]);
  expect(response.headers.get("set-cookie")).toBeNull();
});

test("works while the issuer is away, as API keys do", async () => {
  expect((await call(await sign())).status).toBe(200);
  issuer.isAway = true;
  expect((await call(await sign({ jti: "while away" }))).status).toBe(200);
  issuer.isAway = false;
});

test("ends the service account's tokens when the account is deleted", async () => {
  const [project] = (await idp.admin("GET", "/projects")).data;
  const accounts = await idp.admin("GET", `/projects/${project.id}/service_accounts`);
  const account = accounts.data.find(({ name }: { name: string }) => name === "Nightly report");
  const token = await sign({ jti: "deleted" });
  expect((await call(token)).status).toBe(200);
  await idp.admin("DELETE", `/projects/${project.id}/service_accounts/${account.id}`);
  await eventually(async () => expect((await call(token)).status).toBe(401));
});

test("calls models as a user who signed in once, until the user has no project any more", async () => {
  const { provider, service } = idp;
  provider.people.set("ida", { email: "ida@example.com", name: "Ida", groups: ["research", "staff"] });
  const claims = { iss: provider.issuer, aud: "parlance-api", sub: "ida", iat: seconds(), exp: seconds() + 300 };
  const token = await provider.sign(claims);
  expect(await call(token)).toMatchObject({
    status: 401,
    message: expect.stringContaining("sign in to the console once"),
  });
  const { browser } = await idp.signIn("ida");
  expect(await call(token)).toEqual({ status: 200 });
  expect((await call(token, "/v1/organization/projects")).status).toBe(200);
  provider.people.set("ida", { email: "ida@example.com", name: "Ida", groups: ["staff"] });
  await eventually(async () => {
    expect(await sessionOf(browser, service.origin)).toMatchObject({ signed_in: true, project: null });
    expect((await call(token)).status).toBe(403);
  });
});
