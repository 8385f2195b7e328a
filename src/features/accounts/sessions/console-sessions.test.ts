import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../../test/support/databases/databases.ts";
import type { Caller } from "../../../contracts/caller.ts";
import { MINUTE_MS } from "../../../kernel/durations.ts";
import { accountExtensions } from "../../../serving/account-extensions.ts";
import { openDatabase } from "../../../storage/database.ts";
import { Accounts } from "../accounts.ts";
import { OPERATOR } from "../audit/audit.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

describe.each(DATABASE_KINDS)("sessions of keys on %s", (kind) => {
  async function open() {
    const options = await databases.create(kind);
    const database = openDatabase(options);
    closing.defer(() => database.close());
    const accounts = new Accounts({ database, logger: options.logger, extensions: accountExtensions() });
    closing.defer(() => accounts.close());
    const keys = await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
    const [project, admin] = await Promise.all(
      [keys.apiKey, keys.adminKey].map((key) => accounts.authenticate(key?.reveal())),
    );
    if (project === undefined || admin === undefined) throw new Error("no first keys were created");
    const signIn = async (caller: Caller, previous?: string) => {
      const { token, expiresAt } = await accounts.consoleSessions.signIn(OPERATOR, caller, previous);
      return { token: token.reveal(), expiresAt };
    };
    /** Makes the sessions of a key end at a time. */
    const endAt = (expiresAt: number, { keyId }: Caller) =>
      // A change of accounts, so that keys are read again.
      accounts.transactions.run(OPERATOR, ({ executor }) =>
        executor.updateTable("consoleGrants").set({ expiresAt }).where("keyId", "=", keyId).execute(),
      );
    const grantOf = ({ keyId }: Caller) =>
      accounts.run((executor) =>
        executor.selectFrom("consoleGrants").selectAll().where("keyId", "=", keyId).executeTakeFirst(),
      );
    return { accounts, project, admin, signIn, endAt, grantOf };
  }

  test("an expired session gives its key to nobody who signs in with another one", async () => {
    const { accounts, project, admin, signIn, endAt, grantOf } = await open();
    const first = await signIn(admin);
    await endAt(Date.now() - 1, admin);
    const second = await signIn(project, first.token);
    expect(await accounts.authenticateSession(second.token, "project")).toMatchObject({ keyId: project.keyId });
    expect(await accounts.authenticateSession(second.token, "admin")).toBeUndefined();
    expect(await grantOf(admin)).toBeUndefined();
  });

  test("a key that stays in a session expires when it would have, and has signed in once", async () => {
    const { accounts, project, admin, signIn, endAt, grantOf } = await open();
    const first = await signIn(admin);
    const soon = Date.now() + MINUTE_MS;
    await endAt(soon, admin);
    const second = await signIn(project, first.token);
    const third = await signIn(project, second.token);
    expect(await accounts.authenticateSession(third.token, "admin")).toMatchObject({ keyId: admin.keyId });
    expect(await grantOf(admin)).toMatchObject({ expiresAt: soon });
    expect(await grantOf(project)).toMatchObject({ expiresAt: third.expiresAt });
    expect(third.expiresAt).toBeGreaterThan(soon);
    const page = { limit: 10, order: "desc" } as const;
    const { entries } = await accounts.auditTrail.list(admin.organizationId, { types: ["login.succeeded"] }, page);
    const signIns = entries.map(({ resourceId }) => resourceId);
    expect(signIns.toSorted()).toEqual([admin.keyId, project.keyId, project.keyId].toSorted());
  });

  test("a restricted admin key stays in a session that a project's key joins", async () => {
    const { accounts, project, signIn } = await open();
    const { organizationId } = project;
    const scope = { organizationId, kind: "restricted" } as const;
    const permissions = ["organization.read"] as const;
    const newKey = { scope, name: "Reader", expiresInSeconds: undefined, permissions };
    const { key, secret } = await accounts.apiKeys.create(OPERATOR, newKey);
    const first = await signIn(await accounts.authenticate(secret.reveal()));
    const second = await signIn(project, first.token);
    expect(await accounts.authenticateSession(second.token, "admin")).toMatchObject({ keyId: key.id });
  });
});
