/** Tokens of deleted grants, which a real authorization server revokes, on both databases. */

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../../test/support/databases/databases.ts";
import { ProtectedMcpServer } from "../../../../test/support/mcp/protected-mcp-server.ts";
import { BrowserJar } from "../../../../test/support/service/browser-jar.ts";
import { runParlance } from "../../../../test/support/service/run-parlance.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../kernel/durations.ts";
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

const SERVICE = "http://127.0.0.1:1";
const OLD_KEY = new Secret("o".repeat(40));
const FROM = { ipAddress: undefined, userAgent: undefined };
const ACTOR = { keyId: undefined, ...FROM };

const databases = useDatabases();
let server: ProtectedMcpServer;
beforeAll(async () => {
  server = await ProtectedMcpServer.start();
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(() => {
  server.refusesRevocation = false;
  server.requests.length = 0;
});

const settings = () =>
  mcpServerSettings.parse([{ name: "wiki", url: server.url, oauth: {} }])[0] as OAuthServerSettings;
const revocations = () => server.requests.filter(({ path }) => path === "/token/revocation").length;

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let options: DatabaseOptions;
  let database: Database;
  const opened: McpGrants[] = [];
  beforeAll(async () => {
    options = await databases.create(kind);
    database = openDatabase(options);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await database.run((executor) => executor.deleteFrom("mcpRevocations").execute());
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

  async function connect(grants: McpGrants): Promise<{ owner: GrantOwner; token: string }> {
    const [organizationId, id] = [`org-${randomUUID()}`, `user-${randomUUID()}`];
    const owner = { type: "user", id, organizationId } as const;
    await database.run(async (executor) => {
      const organization = { id: organizationId, name: "Org", isDefault: 0, createdAt: 1, archivedAt: null } as const;
      await executor.insertInto("organizations").values(organization).execute();
      const user = { id, organizationId, email: `${id}@example.com`, name: "Person", role: "reader" } as const;
      const times = { addedAt: 1, disabledAt: null, lastActiveAt: null, isScimManaged: 0 } as const;
      await executor
        .insertInto("users")
        .values({ ...user, ...times })
        .execute();
    });
    const { url, cookie } = await grants.begin(settings(), owner, addressesOf("wiki", SERVICE));
    const page = await new BrowserJar().open(url, (address) => address.startsWith(SERVICE));
    await grants.complete(settings(), { query: new URL(page.url).search.slice(1), cookie, from: FROM });
    return { owner, token: await (await grants.session(settings(), owner)).token() };
  }

  const deleteUser = ({ id }: GrantOwner) =>
    database.run((executor) => executor.deleteFrom("users").where("id", "=", id).execute());
  const rows = () => database.run((executor) => executor.selectFrom("mcpRevocations").selectAll().execute());

  test("revokes the tokens of a deleted person, also those of a refresh, and no others", async () => {
    const grants = open();
    const { owner, token } = await connect(grants);
    const other = await connect(grants);
    const session = await grants.session(settings(), owner);
    await session.renew();
    const refreshed = await session.token();
    expect(refreshed).not.toBe(token);
    expect(await grants.sweep()).toBe(0);
    await deleteUser(owner);

    expect(await grants.sweep()).toBe(1);
    expect(await server.isActive(refreshed)).toBe(false);
    expect(await server.isActive(other.token)).toBe(true);
    expect(await rows()).toHaveLength(1);
    expect(await grants.sweep()).toBe(0);
  });

  test("stores nothing of the person or the tokens in readable form", async () => {
    const { owner, token } = await connect(open());
    const stored = JSON.stringify((await rows()).map((row) => ({ ...row, content: row.content.toString("latin1") })));
    expect(stored).not.toContain(owner.id);
    expect(stored).not.toContain(token);
  });

  test("tries again later what failed, a bounded number of times", async () => {
    const grants = open();
    const { owner, token } = await connect(grants);
    server.refusesRevocation = true;
    expect(await grants.disconnect(settings(), owner, ACTOR)).toEqual({ isRevoked: false });
    expect(await grants.state(settings(), owner)).toMatchObject({ status: "disconnected" });
    expect(revocations()).toBe(1);
    const now = Date.now();
    expect(await grants.sweep(now)).toBe(0);
    expect(await grants.sweep(now + HOUR_MS)).toBe(1);
    server.refusesRevocation = false;
    expect(await grants.sweep(now + HOUR_MS)).toBe(0);
    expect(await grants.sweep(now + DAY_MS)).toBe(1);
    expect(await server.isActive(token)).toBe(false);

    const second = await connect(grants);
    server.refusesRevocation = true;
    await deleteUser(second.owner);
    let attempts = 0;
    for (let day = 0; day < 20; day += 1) attempts += await grants.sweep(now + day * DAY_MS);
    expect(attempts).toBe(10);
    expect(await rows()).toEqual([]);
  });

  test("revokes where the tokens came from when the server has moved", async () => {
    const grants = open();
    const { owner, token } = await connect(grants);
    const moved = { ...settings(), url: "http://127.0.0.1:9/mcp" };
    expect(await grants.disconnect(moved, owner, ACTOR)).toEqual({ isRevoked: true });
    expect(await server.isActive(token)).toBe(false);
  });

  test("makes one attempt where two replicas sweep", async () => {
    const [grants, replica] = [open(), open()];
    const { owner } = await connect(grants);
    await deleteUser(owner);
    await Promise.all([grants.sweep(), replica.sweep()]);
    // The refresh token and the access token.
    expect(revocations()).toBe(2);
  });

  test("deletes and revokes grants of a server that is not configured for a day", async () => {
    const grants = open();
    const { owner, token } = await connect(grants);
    const now = Date.now();
    expect(await grants.deleteUnused(["wiki"], now)).toBe(0);
    expect(await grants.deleteUnused([], now)).toBe(0);
    expect(await grants.deleteUnused(["other"], now + DAY_MS - MINUTE_MS)).toBe(0);
    // It was configured again in between.
    expect(await grants.deleteUnused(["wiki"], now + DAY_MS)).toBe(0);
    expect(await grants.deleteUnused(["other"], now + 2 * DAY_MS)).toBe(0);
    expect(await grants.state(settings(), owner)).toMatchObject({ status: "connected" });
    expect(await grants.deleteUnused(["other"], now + 3 * DAY_MS + 1)).toBeGreaterThan(0);
    expect(await grants.sweep(now + 3 * DAY_MS)).toBeGreaterThan(0);
    expect(await server.isActive(token)).toBe(false);
  });

  test.runIf(kind === "sqlite")("uses and revokes the tokens that `parlance restore` brings back", async () => {
    const { owner, token } = await connect(open());
    const directory = await mkdtemp(join(tmpdir(), "parlance-grants-"));
    const file = join(directory, "parlance.sqlite");
    await backUpSqlite(options.file, file);
    const environment = { PARLANCE_DATA_DIR: directory, PARLANCE_CONFIG: "" };
    const run = (...words: string[]) => runParlance(words, { cwd: directory, environment });
    expect(await run("backup", "copy.sqlite")).toMatchObject({ code: 0 });
    const emptied = openDatabase({ ...options, file });
    await emptied.run((executor) => executor.deleteFrom("mcpGrants").execute());
    await emptied.run((executor) => executor.deleteFrom("mcpRevocations").execute());
    await emptied.close();
    expect(await run("restore", "copy.sqlite")).toMatchObject({ code: 0 });

    const restored = openDatabase({ ...options, file });
    const grants = open([OLD_KEY], restored);
    expect(await (await grants.session(settings(), owner)).token()).toBe(token);
    await restored.run((executor) => executor.deleteFrom("users").where("id", "=", owner.id).execute());
    expect(await grants.sweep()).toBe(1);
    expect(await server.isActive(token)).toBe(false);
    await restored.close();
    await rm(directory, { recursive: true });
  });

  test("revokes after a change of the key", async () => {
    const { owner, token } = await connect(open());
    const key = new Secret("n".repeat(40));
    await open([key, OLD_KEY]).upkeep();
    await deleteUser(owner);
    expect(await open([key]).sweep()).toBe(1);
    expect(await server.isActive(token)).toBe(false);
  });
});
