/** Grants on both databases: connected with a real authorization server, refreshed by replicas, moved to another key. */

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../../test/support/databases/databases.ts";
import { ProtectedMcpServer } from "../../../../test/support/mcp/protected-mcp-server.ts";
import { BrowserJar } from "../../../../test/support/service/browser-jar.ts";
import { DAY_MS } from "../../../kernel/durations.ts";
import { Keyring } from "../../../kernel/encryption/keyring.ts";
import { createLogger } from "../../../kernel/logger.ts";
import { Secret } from "../../../kernel/secret.ts";
import { type Database, type DatabaseOptions, openDatabase } from "../../../storage/database.ts";
import { backUpSqlite } from "../../../storage/sqlite-backup.ts";
import { mcpServerSettings } from "../settings.ts";
import type { GrantOwner } from "./grant-owner.ts";
import { addressesOf } from "./grant-routes.ts";
import { McpGrants } from "./mcp-grants.ts";
import type { OAuthServerSettings } from "./oauth-server.ts";

const OLD_KEY = new Secret("o".repeat(40));
const NEW_KEY = new Secret("n".repeat(40));
/** Where the service would be; the tests take the authorization server's answer before a browser opens it. */
const SERVICE = "http://127.0.0.1:1";
const USER = {
  name: "Person",
  role: "reader",
  addedAt: 1,
  disabledAt: null,
  lastActiveAt: null,
  isScimManaged: 0,
} as const;
const LATER = Date.now() + DAY_MS;
const SESSION = {
  ...{ projectKeyId: null, providerId: null, issuer: null, subject: null, sid: null, tokens: null },
  ...{ createdAt: 1, checkedAt: 1, expiresAt: LATER, renewAt: LATER, validUntil: LATER, renewingUntil: null },
};
const FROM = { ipAddress: undefined, userAgent: undefined };

const databases = useDatabases();
let server: ProtectedMcpServer;
beforeAll(async () => {
  server = await ProtectedMcpServer.start();
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => {
  Object.assign(server, { account: "alice", tokenSeconds: 3600, beforeToken: undefined, refusesRevocation: false });
  Object.assign(server, { describe: undefined, describeIssuer: undefined });
  server.requests.length = 0;
});

function settingsOf(oauth: object = {}, url = server.url): OAuthServerSettings {
  return mcpServerSettings.parse([{ name: "wiki", url, oauth }])[0] as OAuthServerSettings;
}

/** Adds a person in an organization. */
async function addUser(database: Database): Promise<GrantOwner> {
  const [organizationId, id] = [`org-${randomUUID()}`, `user-${randomUUID()}`];
  await database.run(async (executor) => {
    await executor
      .insertInto("organizations")
      .values({ id: organizationId, name: "Org", isDefault: 0, createdAt: 1, archivedAt: null })
      .execute();
    await executor
      .insertInto("users")
      .values({ ...USER, id, organizationId, email: `${id}@example.com` })
      .execute();
  });
  return { type: "user", id, organizationId };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let options: DatabaseOptions;
  let database: Database;
  const opened: { close(): Promise<unknown> }[] = [];
  beforeAll(async () => {
    options = await databases.create(kind);
    database = openDatabase(options);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });
  afterAll(() => database?.close());

  function open(keys: readonly [Secret, ...Secret[]] = [OLD_KEY], on = database): McpGrants {
    const logger = createLogger("silent");
    const grants = new McpGrants({
      database: on,
      keyring: new Keyring(keys),
      logger,
      pageOf: (name) => `page ${name}`,
    });
    opened.push(grants);
    return grants;
  }

  /** Opens the authorization server in a browser, and returns the query of its answer and the cookie. */
  async function authorize(
    grants: McpGrants,
    settings: OAuthServerSettings,
    owner: GrantOwner,
    author?: Parameters<McpGrants["begin"]>[3],
  ) {
    const { url, cookie } = await grants.begin(settings, owner, addressesOf("wiki", SERVICE), author);
    const page = await new BrowserJar().open(url, (address) => address.startsWith(SERVICE));
    return { query: new URL(page.url).search.slice(1), cookie, from: FROM, url: new URL(url) };
  }

  async function connect(grants: McpGrants, settings = settingsOf()): Promise<GrantOwner> {
    const owner = await addUser(database);
    await grants.complete(settings, await authorize(grants, settings, owner));
    return owner;
  }

  test("connects with discovery, a registration, PKCE and a resource indicator", async () => {
    const grants = open();
    const owner = await addUser(database);
    expect(await grants.state(settingsOf(), owner)).toMatchObject({ status: "disconnected" });
    const answer = await authorize(grants, settingsOf(), owner);
    expect(Object.fromEntries(answer.url.searchParams)).toMatchObject({
      code_challenge_method: "S256",
      resource: server.url,
      scope: "tools offline_access",
    });
    await grants.complete(settingsOf(), answer);

    expect(await grants.state(settingsOf(), owner)).toMatchObject({ status: "connected", issuer: server.origin });
    const [exchange] = server.tokenRequests("authorization_code");
    expect(exchange?.get("resource")).toBe(server.url);
    expect(exchange?.get("code_verifier")).toMatch(/^[\w-]{43}$/);
    const token = await tokenOf(grants, owner);
    expect(await server.isActive(token)).toBe(true);
  });

  test("connects nothing once whoever began may no longer do so, and revokes the tokens", async () => {
    const grants = open();
    const person = await addUser(database);
    const ofProject: GrantOwner = { ...person, type: "project", id: `proj-${randomUUID()}` };
    const project = { organizationId: person.organizationId, name: "Team", isDefault: 0, archivedAt: null };
    await database.run((executor) =>
      executor
        .insertInto("projects")
        .values({ ...project, id: ofProject.id, createdAt: 1 })
        .execute(),
    );
    const byPerson = { userId: person.id, keyId: undefined };
    const owners = [
      [person, byPerson],
      [ofProject, byPerson],
      [ofProject, { userId: undefined, keyId: `key-${randomUUID()}` }],
    ] as const;
    const update = (disabledAt: number | null) =>
      database.run((executor) =>
        executor.updateTable("users").set({ disabledAt }).where("id", "=", person.id).execute(),
      );
    for (const [owner, author] of owners) {
      await update(null);
      const { url, cookie } = await grants.begin(settingsOf(), owner, addressesOf("wiki", SERVICE), author);
      const page = await new BrowserJar().open(url, (address) => address.startsWith(SERVICE));
      await update(1);
      const answer = { query: new URL(page.url).search.slice(1), cookie, from: FROM };
      await expect(grants.complete(settingsOf(), answer)).rejects.toThrow("may no longer");
      expect(await grants.state(settingsOf(), owner)).toMatchObject({ status: "disconnected" });
    }
    // Of each, the access token and the refresh token.
    expect(server.requests.filter(({ path }) => path.includes("revocation"))).toHaveLength(2 * owners.length);
  });

  test("connects nothing once the session that began has ended, and keeps what was connected", async () => {
    const grants = open();
    const owner = await addUser(database);
    const id = `session_${randomUUID()}`;
    await database.run((executor) =>
      executor
        .insertInto("userSessions")
        .values({ ...SESSION, id, userId: owner.id, adminHash: `admin ${id}`, projectHash: `project ${id}` })
        .execute(),
    );
    const author = { userId: owner.id, keyId: id, sessionId: id };
    await grants.complete(settingsOf(), await authorize(grants, settingsOf(), owner, author));
    const pending = await authorize(grants, settingsOf(), owner, author);
    await database.run((executor) => executor.deleteFrom("userSessions").where("id", "=", id).execute());
    await expect(grants.complete(settingsOf(), pending)).rejects.toThrow("signed out");
    expect(await grants.state(settingsOf(), owner)).toMatchObject({ status: "connected" });
  });

  const tokenOf = async (grants: McpGrants, owner: GrantOwner) => (await grants.session(settingsOf(), owner)).token();

  test("refreshes once when two replicas use tokens that are about to end", async () => {
    const [one, other] = [open(), open()];
    server.tokenSeconds = 30;
    const owner = await connect(one);
    server.tokenSeconds = 3600;
    const sessions = await Promise.all([one, other].map((grants) => grants.session(settingsOf(), owner)));
    const tokens = await Promise.all(sessions.map((session) => session.token()));

    expect(new Set(tokens).size).toBe(1);
    expect(await server.isActive(tokens[0] ?? "")).toBe(true);
    const refreshes = server.tokenRequests("refresh_token");
    expect(refreshes.map((body) => body.get("resource"))).toEqual([server.url]);
    expect(await tokenOf(other, owner)).toBe(tokens[0]);
  });

  test("uses each refresh token once, as servers that rotate them demand", async () => {
    const grants = open();
    server.tokenSeconds = 30;
    const owner = await connect(grants);
    for (let refreshes = 1; refreshes <= 3; refreshes += 1) {
      expect(await server.isActive(await tokenOf(grants, owner))).toBe(true);
    }
    const sent = server.tokenRequests("refresh_token").map((body) => body.get("refresh_token"));
    expect(new Set(sent).size).toBe(3);
  });

  test("renews a refused token, and asks for a connection once the owner has revoked it", async () => {
    const grants = open();
    const owner = await connect(grants);
    const session = await grants.session(settingsOf(), owner);
    const first = await session.token();
    await server.endToken(first);
    await session.renew();
    const second = await session.token();
    expect(second).not.toBe(first);
    expect(await server.isActive(second)).toBe(true);

    await server.revokeGrantOf(second);
    await expect(session.renew()).rejects.toThrow("at page wiki");
    expect(await grants.state(settingsOf(), owner)).toMatchObject({ status: "expired" });
    await grants.complete(settingsOf(), await authorize(grants, settingsOf(), owner));
    expect(await server.isActive(await tokenOf(grants, owner))).toBe(true);
  });

  test("keeps the tokens while the authorization server fails", async () => {
    const grants = open();
    const owner = await connect(grants);
    const session = await grants.session(settingsOf(), owner);
    server.beforeToken = () => Promise.reject(new Error("it fails"));
    await expect(session.renew()).rejects.toMatchObject({
      code: "mcp_authorization_failed",
      message: expect.stringContaining("could not be refreshed"),
    });
    expect(await grants.state(settingsOf(), owner)).toMatchObject({ status: "connected" });
    server.beforeToken = undefined;
    await session.renew();
    expect(await server.isActive(await session.token())).toBe(true);
  });

  test.each<[string, (answer: Answer) => Partial<Answer>, string]>([
    ["without the browser's cookie", () => ({ cookie: undefined }), "expired"],
    ["with another browser's cookie", () => ({ cookie: "c".repeat(43) }), "expired"],
    ["with another state", ({ query }) => ({ query: query.replace(/state=([^.&]+)\.[^&]+/, "state=$1.x") }), "expired"],
    ["of another grant", ({ query }) => ({ query: query.replace(/state=[^.&]+/, "state=mcpg_0") }), "expired"],
    [
      "of another issuer",
      ({ query }) => ({ query: query.replace(/iss=[^&]+/, "iss=https://evil.example") }),
      "wrong-issuer",
    ],
    ["without the issuer", ({ query }) => ({ query: query.replace(/&?iss=[^&]+/, "") }), "wrong-issuer"],
  ])("refuses an answer %s", async (_name, change, reason) => {
    const grants = open();
    const owner = await addUser(database);
    const answer = await authorize(grants, settingsOf(), owner);

    await expect(grants.complete(settingsOf(), { ...answer, ...change(answer) })).rejects.toMatchObject({ reason });
    expect(server.tokenRequests("authorization_code")).toHaveLength(0);
    expect(await grants.state(settingsOf(), owner)).toMatchObject({ status: "disconnected" });
  });

  test("accepts an answer once", async () => {
    const grants = open();
    const owner = await addUser(database);
    const answer = await authorize(grants, settingsOf(), owner);
    const results = await Promise.allSettled([answer, answer].map((each) => grants.complete(settingsOf(), each)));

    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(server.tokenRequests("authorization_code")).toHaveLength(1);
  });

  test("never uses the tokens of one person for another, nor at another address", async () => {
    const grants = open();
    const alice = await connect(grants);
    server.account = "bob";
    const bob = await connect(grants);
    const stolen = await database.run((executor) =>
      executor.selectFrom("mcpGrants").select("tokens").where("userId", "=", alice.id).executeTakeFirstOrThrow(),
    );
    await database.run((executor) =>
      executor.updateTable("mcpGrants").set(stolen).where("userId", "=", bob.id).execute(),
    );
    await expect(grants.session(settingsOf(), bob)).rejects.toMatchObject({ code: "mcp_connection_required" });
    await expect(grants.session(settingsOf({}, `${server.url}/other`), alice)).rejects.toMatchObject({
      code: "mcp_connection_required",
    });
    expect(await server.isActive(await tokenOf(grants, alice))).toBe(true);
  });

  test("encrypts tokens with the current key, which is enough afterwards", async () => {
    const grants = open();
    const owner = await connect(grants);
    const token = await tokenOf(grants, owner);
    const rows = await database.run((executor) => executor.selectFrom("mcpGrants").select("tokens").execute());
    expect(rows.some(({ tokens }) => tokens?.includes(token))).toBe(false);

    const rotated = open([NEW_KEY, OLD_KEY]);
    expect(await tokenOf(rotated, owner)).toBe(token);
    expect(await rotated.upkeep()).toBeGreaterThan(0);
    expect(await rotated.upkeep()).toBe(0);
    expect(await tokenOf(open([NEW_KEY]), owner)).toBe(token);
    await expect(grants.session(settingsOf(), owner)).rejects.toMatchObject({ code: "mcp_connection_required" });
  });

  test("deletes grants of archived projects, and those that nobody completed within a day", async () => {
    const grants = open();
    const { organizationId } = await addUser(database);
    const ids = ["active", "archived"].map((name) => `proj_${name}_${randomUUID()}`);
    const projects = ids.map((id, archived) => {
      return { id, organizationId, name: id, isDefault: 0, createdAt: 1, archivedAt: archived === 1 ? 2 : null };
    });
    await database.run((executor) => executor.insertInto("projects").values(projects).execute());
    for (const id of ids) {
      const owner = { type: "project", id, organizationId } as const;
      await grants.complete(settingsOf(), await authorize(grants, settingsOf(), owner));
    }
    const [begun, stale] = [await addUser(database), await addUser(database)];
    for (const owner of [begun, stale]) await grants.begin(settingsOf(), owner, addressesOf("wiki", SERVICE));
    await database.run((executor) =>
      executor.updateTable("mcpGrants").set({ createdAt: 1 }).where("userId", "=", stale.id).execute(),
    );
    await grants.upkeep();

    const rows = await database.run((executor) =>
      executor.selectFrom("mcpGrants").select(["userId", "projectId"]).execute(),
    );
    const owners = rows.map(({ userId, projectId }) => userId ?? projectId);
    expect([...ids, begun.id, stale.id].map((id) => owners.includes(id))).toEqual([true, false, true, false]);
  });

  test("revokes tokens at the authorization server when it disconnects", async () => {
    const grants = open();
    const owner = await connect(grants);
    const token = await tokenOf(grants, owner);
    const actor = { keyId: undefined, ...FROM };

    const ended = { ...actor, keyId: "key_ended" };
    await expect(grants.disconnect(settingsOf(), owner, ended)).rejects.toMatchObject({ kind: "unauthenticated" });
    expect(await grants.disconnect(settingsOf(), owner, actor)).toEqual({ isRevoked: true });
    expect(await server.isActive(token)).toBe(false);
    expect(await grants.state(settingsOf(), owner)).toMatchObject({ status: "disconnected" });
    await expect(grants.session(settingsOf(), owner)).rejects.toMatchObject({ code: "mcp_connection_required" });
    expect(await grants.disconnect(settingsOf(), owner, actor)).toEqual({ isRevoked: false });
  });

  test("revokes the tokens of a refresh during which the owner disconnected", async () => {
    const grants = open();
    const owner = await connect(grants);
    const session = await grants.session(settingsOf(), owner);
    server.beforeToken = async () => {
      server.beforeToken = undefined;
      await database.run((executor) => executor.deleteFrom("mcpGrants").where("userId", "=", owner.id).execute());
    };
    await expect(session.renew()).rejects.toMatchObject({ code: "mcp_connection_required" });
    const revoked = server.requests.filter(({ path }) => path === "/token/revocation");
    expect(revoked).toHaveLength(2);
  });

  test("asks for scopes that the server missed when the account is connected again", async () => {
    const grants = open();
    const owner = await connect(grants);
    const session = await grants.session(settingsOf(), owner);
    await expect(session.refuseScopes("admin")).rejects.toThrow("The server asks for further permissions.");

    const { url } = await grants.begin(settingsOf(), owner, addressesOf("wiki", SERVICE));
    expect(new URL(url).searchParams.get("scope")?.split(" ").sort()).toEqual(["admin", "offline_access", "tools"]);
  });

  test.runIf(kind === "sqlite")("uses the tokens of a backup", async () => {
    const owner = await connect(open());
    const copy = `${options.file}.copy`;
    await backUpSqlite(options.file, copy);
    const restored = openDatabase({ ...options, file: copy });
    const token = await tokenOf(open([OLD_KEY], restored), owner);
    expect(await server.isActive(token)).toBe(true);
    await restored.close();
  });
});

interface Answer {
  query: string;
  cookie: string | undefined;
}

type Change = (metadata: Record<string, unknown>) => Record<string, unknown>;

describe("discovery", () => {
  let database: Database;
  let grants: McpGrants;
  let owner: GrantOwner;
  beforeAll(async () => {
    database = openDatabase(await databases.create("sqlite"));
    owner = await addUser(database);
  });
  beforeEach(() => {
    const logger = createLogger("silent");
    grants = new McpGrants({ database, keyring: new Keyring([OLD_KEY]), logger, pageOf: (name) => name });
  });
  afterEach(() => grants.close());
  afterAll(() => database?.close());

  const begin = (settings = settingsOf()) => grants.begin(settings, owner, addressesOf("wiki", SERVICE));

  test.each<[string, { describe?: Change; describeIssuer?: Change }, string]>([
    ["an authorization server on this machine", names("http://127.0.0.1:9"), "may not be connected to"],
    ["an encrypted one on this machine", names("https://127.0.0.1:8443"), "may not be connected to"],
    ["one at the address of cloud metadata", names("https://169.254.169.254"), "may not be connected to"],
    [
      "another resource",
      { describe: (each) => ({ ...each, resource: "https://evil.example/mcp" }) },
      "another resource",
    ],
    [
      "another issuer",
      { describeIssuer: (each) => ({ ...each, issuer: "https://evil.example" }) },
      "describes itself wrong",
    ],
    ["no PKCE", { describeIssuer: (each) => ({ ...each, code_challenge_methods_supported: ["plain"] }) }, "PKCE"],
    [
      "a script",
      { describeIssuer: (each) => ({ ...each, authorization_endpoint: "javascript:alert(1)" }) },
      "describes",
    ],
    ["no registration", { describeIssuer: ({ registration_endpoint: _, ...each }) => each }, "registers no clients"],
    [
      "a registration on this machine",
      { describeIssuer: (each) => ({ ...each, registration_endpoint: "https://127.0.0.1:8443/reg" }) },
      "may not be connected to",
    ],
  ])("refuses a server that names %s", async (_name, changes, message) => {
    Object.assign(server, changes);
    await expect(begin()).rejects.toThrow(message);
  });

  test("refuses a server that names another authorization server than the configuration", async () => {
    const settings = settingsOf({ issuer: "https://login.example.com" });
    await expect(begin(settings)).rejects.toThrow("another authorization server than `oauth.issuer`");
  });

  test("introduces itself by the address of its metadata where that is supported", async () => {
    server.describeIssuer = (each) => ({ ...each, client_id_metadata_document_supported: true });
    const addresses = addressesOf("wiki", "https://parlance.example");
    const sent = async (oauth: object) =>
      new URL((await grants.begin(settingsOf(oauth), owner, addresses)).url).searchParams.get("client_id");

    expect(await sent({})).toBe("https://parlance.example/mcp-connections/wiki/client.json");
    expect(await sent({ issuer: server.origin, client_id: "registered-client", client_secret: "secret" })).toBe(
      "registered-client",
    );
    expect(server.requests.some(({ path }) => path === "/reg")).toBe(false);
    expect(await sent({ registration: "dynamic" })).not.toMatch(/^https/);
  });

  test("registers once for people who connect within an hour", async () => {
    await begin();
    await grants.begin(settingsOf(), await addUser(database), addressesOf("wiki", SERVICE));
    const registrations = server.requests.filter(({ path }) => path === "/reg");
    expect(registrations).toHaveLength(1);
    expect(JSON.parse(registrations[0]?.body ?? "{}")).toMatchObject({
      application_type: "native",
      client_name: "Parlance",
    });
  });
});

function names(issuer: string): { describe: Change } {
  return { describe: (metadata) => ({ ...metadata, authorization_servers: [issuer] }) };
}
