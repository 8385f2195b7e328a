import { describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openDatabase } from "../../storage/database.ts";
import { Accounts } from "../accounts/accounts.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { addUser } from "../accounts/users/users.ts";
import { UserSessions } from "./user-sessions.ts";

const databases = useDatabases();

/** Opens two projects with an owner, who is signed in. */
async function open(kind: (typeof DATABASE_KINDS)[number], stack: AsyncDisposableStack) {
  const options = await databases.create(kind);
  const database = openDatabase(options);
  stack.defer(() => database.close());
  const accounts = new Accounts({ database, logger: options.logger, extensions: accountExtensions() });
  stack.defer(() => accounts.close());
  await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
  const { organizationId } = await accounts.defaultScope("admin");
  const owner = { organizationId, email: "owner@example.com", name: "Owner", role: "owner" } as const;
  const user = await accounts.transactions.run(OPERATOR, (transaction) => addUser(transaction, owner));
  const projects = await Promise.all(
    ["One", "Two"].map((name) => accounts.projects.create(OPERATOR, organizationId, name)),
  );
  const [one = "", two = ""] = projects.map(({ id }) => id);
  const sessions = new UserSessions(accounts.transactions);
  const { token } = await accounts.transactions.run(OPERATOR, (transaction) =>
    sessions.begin(transaction, { user, method: "password" }),
  );
  const session = async () => {
    const row = await sessions.find(token.reveal());
    if (row === undefined) throw new Error("the session has ended");
    return row;
  };
  return { database, sessions, session, one, two };
}

describe.each(DATABASE_KINDS)("sessions of users on %s", (kind) => {
  test("call models in the project that was chosen last, although another choice came between", async () => {
    await using stack = new AsyncDisposableStack();
    const { sessions, session, one, two } = await open(kind, stack);
    await sessions.chooseProject(OPERATOR, await session(), one);
    const before = await session();
    await sessions.chooseProject(OPERATOR, before, two);
    expect((await session()).projectKeyId).not.toBe(before.projectKeyId);
    await sessions.chooseProject(OPERATOR, before, one);
    expect((await session()).projectKeyId).toBe(before.projectKeyId);
  });

  test.each([
    ["has ended", "userSessions"],
    ["is of an archived organization", "organizations"],
  ] as const)("choose no project once the session %s", async (_which, table) => {
    await using stack = new AsyncDisposableStack();
    const { database, sessions, session, one } = await open(kind, stack);
    const row = await session();
    await database.run(async (executor) => {
      if (table === "userSessions") await executor.deleteFrom(table).execute();
      else await executor.updateTable(table).set({ archivedAt: 1 }).execute();
    });
    const actor = { ...OPERATOR, userId: row.userId };
    await expect(sessions.chooseProject(actor, row, one)).rejects.toMatchObject({ code: "session_ended" });
  });
});
