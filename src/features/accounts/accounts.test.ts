import { afterEach, describe, expect, test, vi } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { Secret } from "../../kernel/secret.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { type DatabaseOptions, openDatabase } from "../../storage/database.ts";
import { Accounts, type BootstrapKeys } from "./accounts.ts";
import { OPERATOR } from "./audit/audit.ts";

const databases = useDatabases();
const NONE_FIXED = { apiKey: undefined, adminKey: undefined };
const FULL_PAGE = { limit: 100, order: "asc" } as const;

let closing = new AsyncDisposableStack();
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

const realNow = performance.now.bind(performance);
let passedMs = 0;

/** Advances the clock of the cache of keys. */
function pass(milliseconds: number): void {
  passedMs += milliseconds;
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + passedMs);
}

/** Opens the accounts of one replica of the service. */
function open(options: DatabaseOptions, settings: { databaseGraceSeconds?: number } = {}): Accounts {
  const database = openDatabase(options);
  closing.defer(() => database.close());
  const accounts = new Accounts({
    database,
    extensions: accountExtensions(),
    logger: options.logger,
    lastUsedEverySeconds: 3_600,
    ...settings,
  });
  closing.defer(() => accounts.close());
  return accounts;
}

function revealed(keys: BootstrapKeys): { apiKey: string; adminKey: string } {
  if (keys.apiKey === undefined || keys.adminKey === undefined) throw new Error("no first keys were created");
  return { apiKey: keys.apiKey.reveal(), adminKey: keys.adminKey.reveal() };
}

async function createKey(accounts: Accounts, expiresInSeconds?: number) {
  const scope = await accounts.defaultScope("project");
  return accounts.apiKeys.create(OPERATOR, { scope, name: "Another", expiresInSeconds });
}

const INCORRECT = { kind: "unauthenticated", code: "invalid_api_key" };
const AWAY = { kind: "unavailable", code: "database_unavailable" };

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("creates an organization, a project and a key of each kind at first start only", async () => {
    const options = await databases.create(kind);
    const { apiKey, adminKey } = revealed(await open(options).ensureBootstrapKeys(NONE_FIXED));
    const later = open(options);
    expect(await later.ensureBootstrapKeys(NONE_FIXED)).toEqual(NONE_FIXED);
    const caller = await later.authenticate(apiKey);
    const admin = await later.authenticate(adminKey);
    expect(caller).toMatchObject({ kind: "project", projectId: expect.stringMatching(/^proj_/) });
    expect(admin).toMatchObject({ kind: "admin", projectId: undefined, organizationId: caller.organizationId });
  });

  test("creates them once when several processes start together", async () => {
    const options = await databases.create(kind);
    const made = await Promise.all(Array.from({ length: 3 }, () => open(options).ensureBootstrapKeys(NONE_FIXED)));
    expect(made.filter((keys) => keys.apiKey !== undefined)).toHaveLength(1);
    expect(made.filter((keys) => keys.adminKey !== undefined)).toHaveLength(1);
  });

  test("creates keys of 256 random bits and stores only their hash", async () => {
    const accounts = open(await databases.create(kind));
    const { apiKey, adminKey } = revealed(await accounts.ensureBootstrapKeys(NONE_FIXED));
    expect(apiKey).toMatch(/^sk-[\w-]{43}$/);
    expect(adminKey).toMatch(/^sk-admin-[\w-]{43}$/);
    const { entries } = await accounts.apiKeys.list(await accounts.defaultScope("project"), FULL_PAGE);
    expect(entries).toMatchObject([{ redactedValue: `sk-...${apiKey.slice(-4)}` }]);
    expect(JSON.stringify(entries)).not.toContain(apiKey.slice(3, -4));
  });

  test("applies the operator's fixed keys at every start and revokes changed ones", async () => {
    const options = await databases.create(kind);
    const [first, second] = ["sk-fixed-1".padEnd(32, "x"), "sk-fixed-2".padEnd(32, "x")];
    const adminKey = new Secret("an admin key that the operator chose");
    const before = open(options);
    expect(await before.ensureBootstrapKeys({ apiKey: new Secret(first), adminKey })).toEqual(NONE_FIXED);
    expect(await before.authenticate(adminKey.reveal())).toMatchObject({ kind: "admin" });
    const { keyId } = await before.authenticate(first);

    const after = open(options);
    await after.ensureBootstrapKeys({ apiKey: new Secret(second), adminKey });
    expect(await after.authenticate(second)).toMatchObject({ kind: "project" });
    await expect(after.authenticate(first)).rejects.toMatchObject(INCORRECT);

    await after.ensureBootstrapKeys({ apiKey: new Secret(first), adminKey });
    expect(await after.authenticate(first)).toMatchObject({ keyId });
    await expect(after.authenticate(second)).rejects.toMatchObject(INCORRECT);

    const made = revealed(await after.ensureBootstrapKeys(NONE_FIXED));
    await expect(after.authenticate(first)).rejects.toMatchObject(INCORRECT);
    expect(await after.authenticate(made.adminKey)).toMatchObject({ kind: "admin" });
  });

  test("audits what a start does with the operator's fixed keys, and nothing when that is nothing", async () => {
    const options = await databases.create(kind);
    const [first, second] = ["sk-fixed-1".padEnd(32, "x"), "sk-fixed-2".padEnd(32, "x")];
    const start = (apiKey: string) =>
      open(options).ensureBootstrapKeys({ apiKey: new Secret(apiKey), adminKey: undefined });
    await start(first);
    await start(second);
    const accounts = open(options);
    const { organizationId } = await accounts.defaultScope("admin");
    const audited = async () => (await accounts.auditTrail.list(organizationId, {}, FULL_PAGE)).entries;
    const before = new Set((await audited()).map(({ id }) => id));
    const since = async () => (await audited()).filter(({ id }) => !before.has(id));
    await start(second);
    expect(await since()).toEqual([]);
    await start(first);
    expect((await since()).map(({ type, details }) => ({ type, details }))).toEqual(
      expect.arrayContaining([
        { type: "api_key.deleted", details: {} },
        { type: "api_key.updated", details: { restored: true } },
      ]),
    );
    expect(await since()).toHaveLength(2);
  });

  test("rejects the same fixed value for both kinds of key", async () => {
    const accounts = open(await databases.create(kind));
    const both = new Secret("the same value for two kinds of key");
    const starting = accounts.ensureBootstrapKeys({ apiKey: both, adminKey: both });
    await expect(starting).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("PARLANCE_ADMIN_KEY"),
    });
  });

  test("rejects a missing, malformed, unknown or expired key without echoing it", async () => {
    const accounts = open(await databases.create(kind));
    await accounts.ensureBootstrapKeys(NONE_FIXED);
    for (const missing of [undefined, ""]) {
      const refused = { kind: "unauthenticated", code: undefined };
      await expect(accounts.authenticate(missing)).rejects.toMatchObject(refused);
    }
    for (const wrong of [
      "x",
      "sk-short",
      `sk-${"w".repeat(43)}`,
      "é\n".repeat(20),
      "k".repeat(100_000),
      "'; drop table api_keys; --",
    ]) {
      await expect(accounts.authenticate(wrong)).rejects.toMatchObject({
        ...INCORRECT,
        message: expect.not.stringContaining(wrong),
      });
    }
    await expect(accounts.authenticate("sk-short")).rejects.toMatchObject({
      message: "Incorrect API key provided: ********.",
    });
    await expect(accounts.authenticate("YOUR_API_KEY")).rejects.toMatchObject({
      message: expect.stringMatching(/^Incorrect API key provided: \*{12}\. It is a placeholder: .*keys create/),
    });
    const { key, secret } = await createKey(accounts, 60);
    expect(await accounts.authenticate(secret.reveal())).toMatchObject({ keyId: key.id });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    await expect(accounts.authenticate(secret.reveal())).rejects.toMatchObject(INCORRECT);
  });

  test("accepts a new key immediately, even when it was rejected just before", async () => {
    const accounts = open(await databases.create(kind));
    const apiKey = new Secret("a key that is used before it exists");
    await accounts.ensureBootstrapKeys(NONE_FIXED);
    await expect(accounts.authenticate(apiKey.reveal())).rejects.toMatchObject(INCORRECT);
    await accounts.ensureBootstrapKeys({ apiKey, adminKey: undefined });
    expect(await accounts.authenticate(apiKey.reveal())).toMatchObject({ kind: "project" });
  });

  test("rejects a revoked key at the next request", async () => {
    const accounts = open(await databases.create(kind));
    const { apiKey } = revealed(await accounts.ensureBootstrapKeys(NONE_FIXED));
    const { keyId } = await accounts.authenticate(apiKey);
    await accounts.apiKeys.revoke(OPERATOR, await accounts.defaultScope("project"), keyId);
    await expect(accounts.authenticate(apiKey)).rejects.toMatchObject(INCORRECT);
  });

  test("finds a working key in the cache, but no revoked, expired or unknown one", async () => {
    const accounts = open(await databases.create(kind));
    const { apiKey } = revealed(await accounts.ensureBootstrapKeys(NONE_FIXED));
    const [revoked, expiring] = [await createKey(accounts), await createKey(accounts, 60)];
    const keys = [apiKey, revoked.secret.reveal(), expiring.secret.reveal()];
    const callers = await Promise.all(keys.map((key) => accounts.authenticate(key)));
    // Only keys checked just before are cached.
    const known = async () => {
      await accounts.authenticate(apiKey);
      return keys.map((key) => accounts.authenticateKnown(key));
    };
    await expect.poll(known).toEqual(callers);
    expect([undefined, "sk-wrong"].map((key) => accounts.authenticateKnown(key))).toEqual([undefined, undefined]);

    await accounts.apiKeys.revoke(OPERATOR, await accounts.defaultScope("project"), revoked.key.id);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    await expect.poll(known).toEqual([callers[0], undefined, undefined]);
  });

  test("rejects a key on every replica within a second of its revocation, even while in use", async () => {
    const options = await databases.create(kind);
    const [here, there] = [open(options), open(options)];
    const { adminKey } = revealed(await here.ensureBootstrapKeys(NONE_FIXED));
    const { organizationId, keyId } = await there.authenticate(adminKey);
    const actor = { keyId, ipAddress: undefined, userAgent: undefined, access: undefined };
    const project = await here.projects.create(actor, organizationId, "Team");
    const made = await here.serviceAccounts.create(actor, project, { name: "a", key: { expiresInSeconds: undefined } });
    const archived = made.key?.secret.reveal() ?? "";
    const { key, secret } = await createKey(here);
    const callers = [await there.authenticate(secret.reveal()), await there.authenticate(archived)];
    const [mayUse] = await Promise.all(callers.map((caller) => there.callers.modelAccess(caller)));
    expect(mayUse?.({ id: "m", aliases: [], accessGroups: [] })).toBe(true);

    await here.apiKeys.revoke(OPERATOR, await here.defaultScope("project"), key.id);
    await here.projects.archive(actor, project);
    const nothing = { mode: "allow_list", modelIds: [] } as const;
    await here.modelPermissions.replace(actor, { organizationId, projectId: undefined }, nothing);
    for (let atMs = 0; atMs < 1_000; atMs += 50) {
      await there.authenticate(adminKey);
      await there.authenticate(secret.reveal()).catch(() => {});
      pass(50);
    }
    await expect(there.authenticate(secret.reveal())).rejects.toMatchObject(INCORRECT);
    await expect(there.authenticate(archived)).rejects.toMatchObject(INCORRECT);
    const mayNow = await there.callers.modelAccess(await there.authenticate(adminKey));
    expect(mayNow({ id: "m", aliases: [], accessGroups: [] })).toBe(false);
  });

  test("rejects it within a second on a replica that has been idle since", async () => {
    const options = await databases.create(kind);
    const [here, there] = [open(options), open(options)];
    await here.ensureBootstrapKeys(NONE_FIXED);
    const { key, secret } = await createKey(here);
    await there.authenticate(secret.reveal());
    await here.apiKeys.revoke(OPERATOR, await here.defaultScope("project"), key.id);
    pass(1_000);
    await expect(there.authenticate(secret.reveal())).rejects.toMatchObject(INCORRECT);
  });

  test("records when a key was last used without a write for each request", async () => {
    const accounts = open(await databases.create(kind));
    const { apiKey } = revealed(await accounts.ensureBootstrapKeys(NONE_FIXED));
    const scope = await accounts.defaultScope("project");
    const before = Date.now();
    for (let request = 0; request < 100; request += 1) await accounts.authenticate(apiKey);
    expect((await accounts.apiKeys.list(scope, FULL_PAGE)).entries).toMatchObject([{ lastUsedAt: null }]);
    await accounts.close();
    const [key] = (await accounts.apiKeys.list(scope, FULL_PAGE)).entries;
    expect(key?.lastUsedAt).toBeGreaterThanOrEqual(before);
  });
});

describe("while the database is unavailable", () => {
  test("keeps cached keys working, answers 503 for others, and recovers without a restart", async () => {
    const options = await databases.create("postgresql");
    const accounts = open(options);
    const { apiKey, adminKey } = revealed(await accounts.ensureBootstrapKeys(NONE_FIXED));
    const caller = await accounts.authenticate(apiKey);
    await databases.postgres.stop();
    // Longer than a key is cached without another query.
    pass(950);
    for (let request = 0; request < 20; request += 1) expect(await accounts.authenticate(apiKey)).toEqual(caller);
    await expect(accounts.authenticate(adminKey)).rejects.toMatchObject(AWAY);
    await expect(accounts.authenticate("sk-wrong")).rejects.toMatchObject(AWAY);
    await expect(createKey(accounts)).rejects.toMatchObject(AWAY);
    await databases.postgres.start();
    await expect.poll(() => accounts.authenticate(adminKey)).toMatchObject({ kind: "admin" });
    await expect(accounts.authenticate("sk-wrong")).rejects.toMatchObject(INCORRECT);
    expect((await createKey(accounts)).key.name).toBe("Another");
  });

  test("rejects cached keys after the grace period", async () => {
    const accounts = open(await databases.create("postgresql"), { databaseGraceSeconds: 2 });
    const { apiKey } = revealed(await accounts.ensureBootstrapKeys(NONE_FIXED));
    await accounts.authenticate(apiKey);
    await databases.postgres.stop();
    pass(2_100);
    await expect(accounts.authenticate(apiKey)).rejects.toMatchObject(AWAY);
    await databases.postgres.start();
    await expect.poll(() => accounts.authenticate(apiKey)).toMatchObject({ kind: "project" });
  });

  test("does not accept a key that was revoked just before", async () => {
    const options = await databases.create("postgresql");
    const [here, there] = [open(options), open(options)];
    await here.ensureBootstrapKeys(NONE_FIXED);
    const { key, secret } = await createKey(here);
    await there.authenticate(secret.reveal());
    await here.apiKeys.revoke(OPERATOR, await here.defaultScope("project"), key.id);
    await expect.poll(() => there.authenticate(secret.reveal()).catch((fault) => fault.code)).toBe("invalid_api_key");
    await databases.postgres.stop();
    pass(950);
    await expect(there.authenticate(secret.reveal())).rejects.toMatchObject(AWAY);
    await databases.postgres.start();
  });
});

test("rejects a thousand concurrent wrong keys, also when they are repeated", async () => {
  const options = await databases.create("sqlite");
  const accounts = open(options);
  await accounts.ensureBootstrapKeys(NONE_FIXED);
  const wrong = Array.from({ length: 1_000 }, (_each, index) => `sk-${String(index).padStart(43, "0")}`);
  const answers = await Promise.allSettled([...wrong, ...wrong].map((key) => accounts.authenticate(key)));
  expect(answers.every((answer) => answer.status === "rejected" && answer.reason.code === "invalid_api_key")).toBe(
    true,
  );
});

test("a caller keeps its priority and labels as it changes, and is the same one until then", async () => {
  const accounts = open(await databases.create("sqlite"));
  const { apiKey } = revealed(await accounts.ensureBootstrapKeys(NONE_FIXED));
  const { callers } = accounts;
  const labels = { endUser: "ada", tags: [] };
  const caller = callers.withLabels(callers.withPriority(await accounts.authenticate(apiKey), "background"), labels);
  expect(await callers.current(caller)).toBe(caller);
  await createKey(accounts);
  const current = await callers.current(caller);
  expect(current).toEqual(caller);
  expect(current).not.toBe(caller);
});
