import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openDatabase } from "../../storage/database.ts";
import { type AccountTransaction, AccountTransactions } from "./account-transaction.ts";
import { incrementAccountsVersion, readAccountsVersion } from "./accounts-version.ts";
import { OPERATOR } from "./audit/audit.ts";
import { makeApiKey } from "./keys/api-key.ts";
import { revokeApiKey } from "./keys/api-key-queries.ts";
import { addApiKey } from "./keys/store-api-key.ts";
import { ConsoleSessions } from "./sessions/console-sessions.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

const ROW = { id: "org_a", name: "A", isDefault: 0, createdAt: 1, archivedAt: null };

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

  test("refuses a change whose author lost the key while it waited", async () => {
    const { database, other, transactions } = await open();
    await database.migrate();
    const organizationId = "org_a";
    await database.run((executor) => executor.insertInto("organizations").values(ROW).execute());
    const addKey = (name: string) =>
      transactions.run(OPERATOR, async (transaction) => {
        const scope = { organizationId, kind: "admin" } as const;
        return (await addApiKey(transaction, { scope, name, expiresInSeconds: undefined }, makeApiKey("admin"))).key.id;
      });
    const [kept, ended] = [await addKey("Kept"), await addKey("Ended")];
    const [began, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const revoking = other.transaction(async (executor) => {
      await incrementAccountsVersion(executor);
      began.resolve();
      await gate.promise;
      await revokeApiKey(executor, ended, 1);
    });
    await began.promise;
    const rename = (keyId: string, name: string) =>
      transactions.run({ ...OPERATOR, keyId }, async ({ executor }) => {
        await executor.updateTable("organizations").set({ name }).where("id", "=", organizationId).execute();
      });
    const late = expect(rename(ended, "B")).rejects.toMatchObject({ kind: "unauthenticated", code: "invalid_api_key" });
    gate.resolve();
    await Promise.all([revoking, late]);
    for (const [keyId, name] of [
      [kept, "C"],
      ["operator", "D"],
    ] as const) {
      await rename(keyId, name);
      const { name: read } = await database.run((executor) =>
        executor.selectFrom("organizations").select("name").executeTakeFirstOrThrow(),
      );
      expect(read).toBe(name);
    }
    await expect(rename(ended, "E")).rejects.toMatchObject({ kind: "unauthenticated" });
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
