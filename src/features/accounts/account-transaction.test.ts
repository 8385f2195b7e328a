import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { HOUR_MS } from "../../kernel/durations.ts";
import type { FaultKind } from "../../kernel/faults.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { type Database, type Executor, openDatabase } from "../../storage/database.ts";
import type { ApiKeyRow } from "./account-rows.ts";
import { type AccountTransaction, AccountTransactions } from "./account-transaction.ts";
import { incrementAccountsVersion, readAccountsVersion } from "./accounts-version.ts";
import { type Actor, OPERATOR } from "./audit/audit.ts";
import { makeApiKey } from "./keys/api-key.ts";
import type { ApiKeyScope } from "./keys/api-key-queries.ts";
import { addApiKey } from "./keys/store-api-key.ts";
import { findOrganization } from "./organizations/organization-queries.ts";
import type { UserRow } from "./people-rows.ts";
import { findAccess } from "./roles/find-access.ts";
import { insertConsoleGrant } from "./sessions/console-grant-queries.ts";
import { ConsoleSessions } from "./sessions/console-sessions.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

const SESSION_ROW = { adminHash: "admin", projectHash: "project", projectKeyId: null, providerId: null, issuer: null };
const AT_PROVIDER = { subject: null, sid: null, tokens: null, createdAt: 1, checkedAt: 1, renewingUntil: null };
const LATER = Date.now() + HOUR_MS;

type Credential = "key" | "key of a project" | "session of a key" | "session of a user" | "token of a user";
type End = (executor: Executor) => Promise<unknown>;

const updateKey = (row: Partial<ApiKeyRow>) => (executor: Executor) =>
  executor.updateTable("apiKeys").set(row).execute();
const updateUser = (row: Partial<UserRow>) => (executor: Executor) => executor.updateTable("users").set(row).execute();
const archive = (table: "organizations" | "projects") => (executor: Executor) =>
  executor.updateTable(table).set({ archivedAt: 1 }).execute();
const remove = (table: "consoleGrants" | "userSessions" | "users") => (executor: Executor) =>
  executor.deleteFrom(table).execute();
const expireSession: End = (executor) => executor.updateTable("userSessions").set({ expiresAt: 1 }).execute();

/** What ends the right of an author, and the fault that says so. Each database has one author. */
const ENDS: [Credential, end: string, apply: End, fault: FaultKind][] = [
  ["key", "it was revoked", updateKey({ revokedAt: 1 }), "unauthenticated"],
  ["key", "it expired", updateKey({ expiresAt: 1 }), "unauthenticated"],
  ["key", "the organization was archived", archive("organizations"), "unauthenticated"],
  ["key of a project", "the project was archived", archive("projects"), "unauthenticated"],
  ["session of a key", "it was signed out", remove("consoleGrants"), "unauthenticated"],
  ["session of a user", "it was signed out", remove("userSessions"), "unauthenticated"],
  ["session of a user", "its provider had to confirm it", expireSession, "unauthenticated"],
  ["session of a user", "the organization was archived", archive("organizations"), "unauthenticated"],
  ["session of a user", "the user was disabled", updateUser({ disabledAt: 1 }), "unauthenticated"],
  ["session of a user", "the owner became a reader", updateUser({ role: "reader" }), "forbidden"],
  ["token of a user", "the organization was archived", archive("organizations"), "unauthenticated"],
  ["token of a user", "the user was removed", remove("users"), "unauthenticated"],
  ["token of a user", "the owner became a reader", updateUser({ role: "reader" }), "forbidden"],
];

const ROW = { id: "org_a", name: "A", isDefault: 0, createdAt: 1, archivedAt: null };
const PROJECT = { ...ROW, id: "proj_a", organizationId: ROW.id };
const PERSON: UserRow = {
  ...{ id: "user_a", organizationId: ROW.id, email: "a@example.com", name: "A", role: "owner", addedAt: 1 },
  ...{ disabledAt: null, lastActiveAt: null, isScimManaged: 0 },
};
const SESSION = {
  ...{ ...SESSION_ROW, ...AT_PROVIDER, id: "session_user", userId: PERSON.id },
  ...{ expiresAt: LATER, renewAt: LATER, validUntil: LATER },
};
const GRANT = { tokenHash: "hash", sessionId: "session_key", createdAt: 1, expiresAt: LATER };

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  async function open() {
    const options = await databases.create(kind);
    const opened = () => {
      const database = openDatabase(options);
      closing.defer(() => database.close());
      return database;
    };
    const database = opened();
    let reloads = 0;
    const transactions = new AccountTransactions(database, accountExtensions(), async () => {
      reloads += 1;
    });
    /** Runs work. Returns its result, by how much it raised the version, and how often it reloaded keys. */
    const run = async <Result>(work: (transaction: AccountTransaction) => Promise<Result>) => {
      const before = { version: await database.run(readAccountsVersion), reloads };
      const result = await transactions.run(OPERATOR, work);
      return [result, (await database.run(readAccountsVersion)) - before.version, reloads - before.reloads];
    };
    return { database, other: opened(), transactions, run };
  }

  test("raises the version and reloads keys for a change only", async () => {
    const { run } = await open();
    expect(await run(async () => "nothing")).toEqual(["nothing", 0, 0]);
    const insert = await run(({ executor }) =>
      executor.insertInto("organizations").values(ROW).returning("id").executeTakeFirst(),
    );
    expect(insert).toEqual([{ id: "org_a" }, 1, 1]);
    const read = await run(({ executor }) => executor.selectFrom("organizations").select("id").execute());
    expect(read.slice(1)).toEqual([0, 0]);
    const remove = (id: string) =>
      run(async ({ executor }) => {
        await executor.deleteFrom("organizations").where("id", "=", id).execute();
      });
    expect(await remove("org_b")).toEqual([undefined, 0, 0]);
    expect(await remove("org_a")).toEqual([undefined, 1, 1]);
  });

  /** Creates a user with a session, an admin key with one, and a project with a key. Returns the author that each admits. */
  async function authors(database: Database, transactions: AccountTransactions): Promise<Record<Credential, Actor>> {
    await database.migrate();
    const organizationId = ROW.id;
    await database.run(async (executor) => {
      await executor.insertInto("organizations").values(ROW).execute();
      await executor.insertInto("projects").values(PROJECT).execute();
      await executor.insertInto("users").values(PERSON).execute();
      await executor.insertInto("userSessions").values(SESSION).execute();
    });
    const { keyId, projectKeyId } = await transactions.run(OPERATOR, async (transaction) => {
      const add = async (scope: ApiKeyScope) =>
        (await addApiKey(transaction, { scope, name: "A", expiresInSeconds: 60 }, makeApiKey(scope.kind))).key.id;
      const keyId = await add({ organizationId, kind: "admin" });
      await insertConsoleGrant(transaction.executor, { ...GRANT, keyId });
      return { keyId, projectKeyId: await add({ organizationId, kind: "project", projectId: PROJECT.id }) };
    });
    const access = await database.run(async (executor) =>
      (await findAccess(executor, [{ user: PERSON }])).get(PERSON.id),
    );
    const user = { ...OPERATOR, userId: PERSON.id, access };
    return {
      key: { ...OPERATOR, keyId },
      "key of a project": { ...OPERATOR, keyId: projectKeyId },
      "session of a key": { ...OPERATOR, keyId, sessionId: GRANT.sessionId },
      "session of a user": { ...user, keyId: SESSION.id, sessionId: SESSION.id },
      "token of a user": { ...user, keyId: PERSON.id },
    };
  }

  test.each(ENDS)("refuses a change by the %s that waited while %s", async (credential, _end, apply, kindOfFault) => {
    const { database, other, transactions } = await open();
    const author = (await authors(database, transactions))[credential];
    const rename = (name: string) =>
      transactions.run(author, async ({ executor }) => {
        await executor.updateTable("organizations").set({ name }).execute();
      });
    await rename("B");
    const [began, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ending = other.transaction(async (executor) => {
      await incrementAccountsVersion(executor);
      began.resolve();
      await gate.promise;
      await apply(executor);
    });
    await began.promise;
    const late = expect(rename("C")).rejects.toMatchObject({ kind: kindOfFault });
    gate.resolve();
    await Promise.all([ending, late]);
    await expect(rename("C")).rejects.toMatchObject({ kind: kindOfFault });
    expect(await database.run((executor) => findOrganization(executor, ROW.id))).toMatchObject({ name: "B" });
  });

  test("signs nobody out without waiting for changes that run", async () => {
    const { database, other, transactions } = await open();
    const sessions = new ConsoleSessions(transactions);
    await database.migrate();
    const [began, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const change = other.transaction(async (executor) => {
      await incrementAccountsVersion(executor);
      began.resolve();
      await gate.promise;
    });
    await began.promise;
    const before = await database.run(readAccountsVersion);
    for (const token of ["x".repeat(43), "x".repeat(65), ""]) await sessions.signOut(OPERATOR, token);
    expect(await database.run(readAccountsVersion)).toBe(before);
    gate.resolve();
    await change;
  });
});
