import { afterEach, expect, test } from "vitest";
import { useDatabases } from "../../../test/support/databases/databases.ts";
import { IdentityProvider } from "../../../test/support/upstreams/identity-provider.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openDatabase } from "../../storage/database.ts";
import { AccountTransactions } from "../accounts/account-transaction.ts";
import { Accounts } from "../accounts/accounts.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { addUser } from "../accounts/users/users.ts";
import { BearerTokens } from "./bearer-tokens.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

/** Changes accounts only after another change, as where it waits for that of another replica. */
class LateTransactions extends AccountTransactions {
  before: () => Promise<unknown> = async () => {};

  override async run<Result>(...[actor, work]: Parameters<AccountTransactions["run"]>): Promise<Result> {
    await this.before();
    return (await super.run(actor, work)) as Result;
  }
}

async function open() {
  const options = await databases.create("sqlite");
  const database = openDatabase(options);
  closing.defer(() => database.close());
  const issuer = closing.use(await IdentityProvider.start());
  const accounts = new Accounts({ database, logger: options.logger, extensions: accountExtensions() });
  closing.defer(() => accounts.close());
  await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
  const { organizationId, projectId = "" } = await accounts.defaultScope("project");
  const project = { organizationId, id: projectId };
  const person = { organizationId, email: "a@example.com", name: "A", role: "owner" } as const;
  const { user } = await accounts.transactions.run(OPERATOR, async (transaction) => {
    await addUser(transaction, { ...person, email: "b@example.com", name: "Another owner" });
    return { user: await addUser(transaction, person) };
  });
  const { account } = await accounts.serviceAccounts.create(OPERATOR, project, { name: "Robot", key: undefined });
  const identity = { issuer: issuer.issuer, subject: "ada", userId: user.id, createdAt: 1, lastUsedAt: 1 };
  await database.run((executor) => executor.insertInto("externalIdentities").values(identity).execute());
  const transactions = new LateTransactions(database, accountExtensions(), async () => {});
  const rule = { subject: "robot", project: projectId, serviceAccount: account.id };
  const tokens = new BearerTokens({
    issuers: [
      {
        ...{ issuer: issuer.issuer, audiences: ["api"], scopes: [], subjectClaim: "sub", serviceAccounts: [rule] },
        ...{ clockToleranceSeconds: 60, jwksUrl: undefined, project: undefined, projectClaim: undefined },
      },
    ],
    fetch: (url, init) => fetch(url, init),
    transactions,
  });
  const use = async (sub: string) => {
    const exp = Math.floor(Date.now() / 1000) + 300;
    return tokens.findKeyHash(await issuer.sign({ iss: issuer.issuer, aud: "api", sub, exp }), "project");
  };
  const keys = () =>
    database.run((executor) =>
      executor.selectFrom("apiKeys").select("keyHash").where("keyHash", "like", "sign-on %").execute(),
    );
  return { accounts, transactions, use, keys, user, account };
}

test("creates the key of a token's user once", async () => {
  const { use, keys } = await open();
  const keyHash = await use("ada");
  expect(await use("ada")).toBe(keyHash);
  expect(await keys()).toEqual([{ keyHash }]);
});

test("creates no key for a user who was disabled before the change", async () => {
  const { accounts, transactions, use, keys, user } = await open();
  transactions.before = () => accounts.users.update(OPERATOR, user, { isDisabled: true });
  await expect(use("ada")).rejects.toMatchObject({ kind: "forbidden" });
  expect(await keys()).toEqual([]);
});

test("creates no key for a service account that was deleted before the change", async () => {
  const { accounts, transactions, use, keys, account } = await open();
  transactions.before = () => accounts.serviceAccounts.delete(OPERATOR, account);
  await expect(use("robot")).rejects.toMatchObject({ kind: "unauthenticated" });
  expect(await keys()).toEqual([]);
});
