import { describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { Secret } from "../../kernel/secret.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openDatabase } from "../../storage/database.ts";
import { Accounts } from "../accounts/accounts.ts";
import { readAccountsVersion } from "../accounts/accounts-version.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { PasswordAttempts } from "../quota/password-attempts.ts";
import { SelfServiceLimit } from "../quota/self-service-limit.ts";
import { Passwords } from "./passwords.ts";
import { UserSessions } from "./user-sessions.ts";

const databases = useDatabases();
const OWNER = { email: "owner@example.com", name: "Owner", password: new Secret("correct horse battery") };

describe.each(DATABASE_KINDS)("passwords on %s", (kind) => {
  test("limits how often a right one begins sessions", async () => {
    await using stack = new AsyncDisposableStack();
    const options = await databases.create(kind);
    const database = openDatabase(options);
    stack.defer(() => database.close());
    const counters = new InMemoryCounters();
    const limit = new SelfServiceLimit(counters);
    const accounts = new Accounts({
      ...{ database, logger: options.logger, extensions: accountExtensions() },
      countSelfService: (name) => limit.count(name),
    });
    stack.defer(() => accounts.close());
    await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
    const { transactions, invites } = accounts;
    const sessions = new UserSessions(transactions);
    const attempts = new PasswordAttempts(counters);
    const passwords = new Passwords({ transactions, sessions, attempts, invites, providers: [], isAllowed: true });
    const { token } = await passwords.addFirstOwner(OPERATOR, OWNER);
    const session = await sessions.find(token.reveal());
    if (session === undefined) throw new Error("the first owner has no session");

    const signIn = () => passwords.signIn(OPERATOR, OWNER.email, OWNER.password);
    await signIn();
    for (let change = 1; change < 100; change += 1) await limit.count(`sign-ins of ${session.userId}`);
    const before = await database.run(readAccountsVersion);
    const refused = { kind: "request-rate-limited", code: "too_many_attempts" };
    await expect(signIn()).rejects.toMatchObject(refused);
    await expect(passwords.change(OPERATOR, session, OWNER.password, OWNER.password)).rejects.toMatchObject(refused);
    expect(await database.run(readAccountsVersion)).toBe(before);
    await sessions.end(OPERATOR, session, "signed out");
  });
});
