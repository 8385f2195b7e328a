/** Saved chats over HTTP: who reads them, and what they survive. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BrowserJar } from "../support/service/browser-jar.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type Service, startService } from "../support/service/service.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any;

const PASSWORD = "correct horse battery";
const [OLD_KEY, NEW_KEY] = ["o".repeat(40), "n".repeat(40)];
const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
saved_chats: { max_size_per_chat: 1MB }
`;
const CONTENT = JSON.stringify({ turns: [{ text: "Badgers dig tunnels." }] });

let directory: string;
let service: Service;
let owner: BrowserJar;
let ada: BrowserJar;
let project: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "parlance-saved-chats-"));
  service = await start(OLD_KEY);
  const { code } = await administer("POST", "/console_sign_in_codes");
  owner = new BrowserJar();
  await send(owner, "POST", "/console/session", { code });
  await send(owner, "POST", "/console/first_owner", { email: "owner@example.com", name: "Owner", password: PASSWORD });
  project = (await send(owner, "GET", "/console/session")).body.project.id;
  ada = await invite("ada@example.com");
});
afterAll(async () => {
  await service?.stop();
  await rm(directory, { recursive: true, force: true });
});

function start(keys: string, config = CONFIG): Promise<Service> {
  return startService({ config, environment: { PARLANCE_DATA_DIR: directory, PARLANCE_ENCRYPTION_KEY: keys } });
}

async function send(browser: BrowserJar, method: string, path: string, body?: unknown, headers: object = {}) {
  const response = await browser.fetch(`${service.origin}${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    body: (text.startsWith("{") && !text.includes("\n") ? JSON.parse(text) : {}) as Any,
  };
}

async function administer(method: string, path: string, body?: unknown): Promise<Any> {
  const headers = { authorization: `Bearer ${service.adminKey}` };
  return (await send(new BrowserJar(), method, `/v1/organization${path}`, body, headers)).body;
}

async function invite(email: string, id = project): Promise<BrowserJar> {
  const projects = [{ id, role: "member" }];
  const { token } = await administer("POST", "/invites", { email, role: "reader", projects });
  const browser = new BrowserJar();
  const accepted = await send(browser, "POST", "/console/invite/accept", { token, name: email, password: PASSWORD });
  expect(accepted.status).toBe(200);
  return browser;
}

const save = (browser: BrowserJar, id: string, revision = 0, content = CONTENT) =>
  send(browser, "PUT", `/v1/saved_chats/${id}`, { title: "About badgers", content, revision });
const list = async (browser: BrowserJar) => (await send(browser, "GET", "/v1/saved_chats")).body.data as Any[];

test("shows a person's chats to the person on every device, and to nobody else", async () => {
  expect(await save(ada, "shared")).toMatchObject({ status: 200, body: { id: "shared", revision: 1 } });
  const phone = new BrowserJar();
  await send(phone, "POST", "/console/session", { email: "ada@example.com", password: PASSWORD });
  expect(await list(phone)).toMatchObject([{ id: "shared", title: "About badgers", revision: 1 }]);
  expect(await send(phone, "GET", "/v1/saved_chats/shared")).toMatchObject({ body: { content: CONTENT } });
  expect(await save(phone, "shared", 1)).toMatchObject({ body: { revision: 2 } });
  expect(await save(ada, "shared", 1)).toMatchObject({ status: 409, body: { error: { code: "chat_changed" } } });

  const { body: key } = await send(ada, "POST", `/v1/organization/projects/${project}/api_keys`, { name: "Program" });
  const attempts: [BrowserJar, object][] = [
    [new BrowserJar(), { authorization: `Bearer ${service.apiKey}` }],
    [new BrowserJar(), { authorization: `Bearer ${key.value}` }],
    // A key takes precedence over the session of the same browser.
    [ada, { authorization: `Bearer ${key.value}` }],
  ];
  for (const [browser, headers] of attempts) {
    const refused = await send(browser, "GET", "/v1/saved_chats/shared", undefined, headers);
    expect(refused).toMatchObject({ status: 403, body: { error: { code: "session_required" } } });
  }
  const withKey = new BrowserJar();
  await send(withKey, "POST", "/console/session", { key: key.value });
  expect((await send(withKey, "GET", "/v1/saved_chats")).body.error.code).toBe("session_required");
  expect(await list(owner)).toEqual([]);
  expect((await send(owner, "GET", "/v1/saved_chats/shared")).status).toBe(404);
  expect((await send(owner, "DELETE", "/v1/saved_chats/shared")).status).toBe(404);
  expect((await send(new BrowserJar(), "GET", "/v1/saved_chats")).status).toBe(401);
});

test("names the bound of what is too large or malformed", async () => {
  const large = await save(ada, "large", 0, "x".repeat(1_000_001));
  expect([large.status, large.body.error.message]).toEqual([413, expect.stringContaining("the limit is 1000000")]);
  expect((await save(ada, "with.dots")).body.error).toMatchObject({ param: "chat" });
  const extra = { title: "a", content: "b", revision: 0, owner: "user_x" };
  expect((await send(ada, "PUT", "/v1/saved_chats/extra", extra)).status).toBe(400);
  expect((await send(ada, "GET", "/v1/saved_chats?limit=1000")).body.error).toMatchObject({ param: "limit" });
});

test("records no request and no content of a saved chat where the project records", async () => {
  await administer("POST", `/projects/${project}/recording`, { record_content: "all" });
  expect((await save(ada, "recorded")).status).toBe(200);
  expect((await save(ada, "recorded", 7)).status).toBe(409);
  const { body } = await send(ada, "POST", "/v1/chat/completions", {
    model: "parrot",
    messages: [{ role: "user", content: "Hello" }],
  });
  expect(body.object).toBe("chat.completion");
  const operations = async () =>
    (await administer("GET", "/requests?limit=100")).data.map(({ operation }: Any) => operation) as string[];
  await expect.poll(operations).toContain("chat/completions");
  expect((await operations()).filter((each) => each.includes("saved"))).toEqual([]);
  await administer("POST", `/projects/${project}/recording`, { record_content: "none" });
});

test("exports chats to the person alone, and erases them with the person", async () => {
  const grace = await invite("grace@example.com");
  await save(grace, "one");
  await save(grace, "two");
  const { id } = (await send(grace, "GET", "/console/session")).body.user;
  const path = `/v1/organization/users/${id}`;
  const rowsOf = async (browser: BrowserJar) => {
    const { status, text } = await send(browser, "GET", `${path}/export`);
    expect(status).toBe(200);
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Any);
    return lines.filter(({ record }) => record === "saved_chats");
  };
  expect(await rowsOf(grace)).toMatchObject([
    { title: "About badgers", content: CONTENT },
    { title: "About badgers", content: CONTENT },
  ]);
  const shownToOwner = await rowsOf(owner);
  expect(shownToOwner).toHaveLength(2);
  expect(JSON.stringify(shownToOwner)).not.toContain("adgers");
  const erased = await send(owner, "POST", `${path}/erase`, {});
  expect(erased.body.rows).toMatchObject({ saved_chats: 2 });
});

const share = (browser: BrowserJar, id: string, content = CONTENT) =>
  send(browser, "PUT", `/v1/saved_chats/${id}/share`, { title: "Badgers", content });
const readShare = (browser: BrowserJar, id: string, headers: object = {}) =>
  send(browser, "GET", `/v1/shared_chats/${id}`, undefined, headers);
const NO_SHARE = { status: 404, body: { error: { code: "shared_chat_not_found" } } };

test("shows a shared copy to the members of the project, and to nobody else", async () => {
  const tove = await invite("tove@example.com");
  await save(tove, "talk");
  const first = await share(tove, "talk");
  expect(first).toMatchObject({ status: 200, body: { id: "talk", revision: 1 } });
  const { share_id: id } = first.body;
  expect(await readShare(ada, id)).toMatchObject({
    status: 200,
    body: { id, title: "Badgers", author: "tove@example.com", content: CONTENT },
  });
  // What its person writes afterwards is not in the copy, which sharing again replaces under the same link.
  await save(tove, "talk", 1, "later");
  expect(await readShare(ada, id)).toMatchObject({ body: { content: CONTENT } });
  expect((await share(tove, "talk", "newer")).body.share_id).toBe(id);
  expect(await readShare(ada, id)).toMatchObject({ body: { content: "newer" } });
  expect(await list(tove)).toMatchObject([{ id: "talk", share_id: id }]);

  expect((await list(ada)).map((chat) => chat.id)).not.toContain(id);
  const attempts: [string, string][] = [
    ["GET", `/v1/saved_chats/${id}`],
    ["DELETE", `/v1/saved_chats/${id}`],
    ["GET", "/v1/saved_chats/talk"],
    ["DELETE", "/v1/saved_chats/talk/share"],
  ];
  for (const [method, path] of attempts) expect((await send(ada, method, path)).status).toBe(404);
  expect((await share(ada, "talk")).status).toBe(404);
  // The copy is not a chat of its person either.
  expect((await send(tove, "GET", `/v1/saved_chats/${id}`)).status).toBe(404);
  expect((await save(tove, id)).status).toBe(404);
  expect((await share(tove, id)).status).toBe(404);

  const { id: other } = await administer("POST", "/projects", { name: "Elsewhere" });
  const stranger = await invite("stranger@example.com", other);
  expect(await readShare(stranger, id)).toMatchObject(NO_SHARE);
  for (const headers of [{}, { "openai-project": project }]) {
    expect((await readShare(stranger, id, headers)).status).not.toBe(200);
  }
  const key = { authorization: `Bearer ${service.apiKey}` };
  expect((await readShare(new BrowserJar(), id, key)).body.error.code).toBe("session_required");
  expect((await readShare(new BrowserJar(), id)).status).toBe(401);
  const mallory = await invite("mallory@example.com");
  expect((await readShare(mallory, id)).status).toBe(200);
  const { id: left } = (await send(mallory, "GET", "/console/session")).body.user;
  await administer("DELETE", `/projects/${project}/users/${left}`);
  await expect.poll(async () => (await readShare(mallory, id)).status).not.toBe(200);

  expect(await send(tove, "DELETE", "/v1/saved_chats/talk/share")).toMatchObject({ body: { share_id: null } });
  expect(await readShare(ada, id)).toMatchObject(NO_SHARE);
  expect(await send(tove, "DELETE", "/v1/saved_chats/talk/share")).toMatchObject(NO_SHARE);
});

test("ends the sharing with the chat, with all chats and with the person", async () => {
  const olga = await invite("olga@example.com");
  const shareNew = async (id: string) => {
    await save(olga, id);
    return (await share(olga, id)).body.share_id as string;
  };
  const one = await shareNew("one");
  await send(olga, "DELETE", "/v1/saved_chats/one");
  expect(await readShare(ada, one)).toMatchObject(NO_SHARE);
  const two = await shareNew("two");
  expect((await send(olga, "DELETE", "/v1/saved_chats")).body).toMatchObject({ count: 1 });
  expect(await readShare(ada, two)).toMatchObject(NO_SHARE);
  const three = await shareNew("three");
  const { id } = (await send(olga, "GET", "/console/session")).body.user;
  await send(owner, "POST", `/v1/organization/users/${id}/erase`, {});
  expect(await readShare(ada, three)).toMatchObject(NO_SHARE);
});

test("moves chats to folders and pins them without a new revision", async () => {
  const nils = await invite("nils@example.com");
  await save(nils, "a");
  const before = await list(nils);
  const arrange = (browser: BrowserJar, body: object) => send(browser, "PUT", "/v1/saved_chats/a/arrangement", body);
  const arrangement = { folder: "Work", is_pinned: true };
  expect(await arrange(nils, arrangement)).toMatchObject({ status: 200, body: { ...before[0], ...arrangement } });
  expect((await save(nils, "a", 1)).body).toMatchObject({ revision: 2, ...arrangement });
  expect(await list(nils)).toMatchObject([{ id: "a", ...arrangement }]);
  expect((await arrange(nils, { folder: " ", is_pinned: false })).status).toBe(400);
  expect((await arrange(nils, { folder: null, is_pinned: false })).body).toMatchObject({ folder: null });
  expect((await arrange(ada, arrangement)).status).toBe(404);
});

test("deletes one chat, and all", async () => {
  const mary = await invite("mary@example.com");
  for (const id of ["a", "b", "c"]) await save(mary, id);
  expect((await send(mary, "DELETE", "/v1/saved_chats/a")).body).toEqual({
    ...{ id: "a", object: "saved_chat.deleted", deleted: true },
  });
  expect((await send(mary, "DELETE", "/v1/saved_chats")).body).toMatchObject({ deleted: true, count: 2 });
  expect(await list(mary)).toEqual([]);
  expect((await list(ada)).length).toBeGreaterThan(0);
});

test("survives a backup, a restore and a rotation of the key, and can only be listed and deleted once its setting is off", async () => {
  const environment = { PARLANCE_DATA_DIR: directory, PARLANCE_CONFIG: "" };
  const backup = join(directory, "copy.sqlite");
  const revision = (await list(ada)).find(({ id }) => id === "shared").revision;
  expect(await runParlance(["backup", backup], { cwd: directory, environment })).toMatchObject({ code: 0 });
  expect((await readFile(backup)).includes("adgers")).toBe(false);
  await send(ada, "DELETE", "/v1/saved_chats");
  await service.stop();
  expect(await runParlance(["restore", backup], { cwd: directory, environment })).toMatchObject({ code: 0 });
  const signIn = async () => {
    const browser = new BrowserJar();
    await send(browser, "POST", "/console/session", { email: "ada@example.com", password: PASSWORD });
    return browser;
  };
  service = await start(`${NEW_KEY},${OLD_KEY}`);
  const restored = await send(await signIn(), "GET", "/v1/saved_chats/shared");
  expect(restored.body).toMatchObject({ revision, content: CONTENT, title: "About badgers" });
  await service.stop();
  service = await start(OLD_KEY, CONFIG.replace("saved_chats: {", "saved_chats: { store: false,"));
  const browser = await signIn();
  const refused = { status: 404, body: { error: { code: "saved_chats_disabled" } } };
  expect(await send(browser, "GET", "/v1/saved_chats/shared")).toMatchObject(refused);
  expect(await save(browser, "new")).toMatchObject(refused);
  const earlier = await list(browser);
  expect(earlier.length).toBeGreaterThan(1);
  expect(earlier.every(({ title }) => title === null)).toBe(true);
  expect((await send(browser, "DELETE", "/v1/saved_chats/shared")).status).toBe(200);
  expect((await send(browser, "DELETE", "/v1/saved_chats")).body).toMatchObject({ count: earlier.length - 1 });
  expect(await list(browser)).toEqual([]);
});
