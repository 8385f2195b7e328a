/** Groups that the rules of providers make, beside groups by hand with their names, on both databases. */

import { afterEach, describe, expect, test } from "vitest";
import { watchAccess } from "../../../test/support/accounts/watch-access.ts";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openDatabase } from "../../storage/database.ts";
import { Accounts } from "../accounts/accounts.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { ORGANIZATION_ROLE_IDS, PROJECT_ROLE_IDS } from "../accounts/roles/built-in-roles.ts";
import { findAccess } from "../accounts/roles/find-access.ts";
import { addUser } from "../accounts/users/users.ts";
import { applyRules, findProviderGroups, removeGroupsOfProviders, setGroups } from "./group-rules.ts";
import type { GroupRule } from "./settings.ts";

const databases = useDatabases();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const PROVIDER = { id: "a", issuer: "https://a.example" };
const ruled = (...rules: Partial<GroupRule>[]) => [{ ...PROVIDER, rules: rules as GroupRule[] }];
const OWNERS = ruled({ group: "ds", role: "owner" });

async function open(kind: (typeof DATABASE_KINDS)[number]) {
  const options = await databases.create(kind);
  const database = openDatabase(options);
  const accounts = new Accounts({ database, logger: options.logger, extensions: accountExtensions() });
  closing.push(
    () => accounts.close(),
    () => database.close(),
  );
  await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
  const { organizationId } = await accounts.defaultScope("admin");
  const watch = kind === "sqlite" ? await watchAccess({ accounts }) : undefined;
  closing.unshift(async () => expect((await watch?.unaudited()) ?? []).toEqual([]));
  const { transactions } = accounts;
  const audited = new Set<string>();
  let count = 0;
  const newUser = () => {
    count += 1;
    const wanted = { organizationId, email: `person-${count}@example.com`, name: "Person", role: "reader" } as const;
    return transactions.run(OPERATOR, (transaction) => addUser(transaction, wanted));
  };
  type User = Awaited<ReturnType<typeof newUser>>;
  return {
    accounts,
    organizationId,
    newUser,
    apply: (providers: ReturnType<typeof ruled>) =>
      transactions.run(OPERATOR, (transaction) => applyRules(transaction, organizationId, providers)),
    signIn: (user: User, groups: string[]) =>
      transactions.run(OPERATOR, (transaction) => setGroups(transaction, user, PROVIDER, groups)),
    providerGroups: (user: User) => database.run((executor) => findProviderGroups(executor, user.id, PROVIDER)),
    access: async (user: User) => (await database.run((executor) => findAccess(executor, [{ user }]))).get(user.id),
    listGroups: async () => (await accounts.groups.list(organizationId, { limit: 100, order: "asc" })).entries,
    /** Returns what the audit log says since the last call. Entries of one transaction have no order. */
    takeAudited: async () => {
      const page = { limit: 100, order: "asc" } as const;
      const { entries } = await accounts.auditTrail.list(organizationId, {}, page);
      const added = entries.filter(({ id }) => !audited.has(id));
      for (const { id } of added) audited.add(id);
      return added.map(({ type, resourceId, details }) => ({ type, resourceId, details }));
    },
    removeProviders: () => removeGroupsOfProviders(transactions),
  };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("a group by hand with the name of a provider's group stays another group", async () => {
    const { accounts, organizationId, newUser, apply, signIn, access, listGroups } = await open(kind);
    const [mallory, ada] = [await newUser(), await newUser()];
    const author = { ...OPERATOR, access: { organization: ["organization.groups.write" as const], projects: {} } };
    const decoy = await accounts.groups.create(author, organizationId, "A/ds");
    await accounts.groups.addMember(author, { organizationId, id: decoy.id }, mallory.id);
    expect(await apply(OWNERS)).toEqual([]);
    await signIn(ada, ["ds"]);
    expect((await access(mallory))?.organization).toEqual([]);
    expect((await access(ada))?.organization).toContain("organization.write");
    const groups = (await listGroups()).map(({ name, providerId }) => [name, providerId]);
    // Both may have been created in the same millisecond.
    expect(groups.toSorted()).toEqual([
      ["A/ds", null],
      ["a/ds", "a"],
    ]);
  });

  test("nobody changes a provider's group by hand, not even an owner", async () => {
    const { accounts, organizationId, newUser, apply, listGroups } = await open(kind);
    const { id: userId } = await newUser();
    const { id: project } = await accounts.projects.create(OPERATOR, organizationId, "Team");
    await apply(ruled({ group: "ds", project, projectRole: "viewer" }));
    const [group] = await listGroups();
    const reference = { organizationId, id: group?.id ?? "" };
    const { groups, roleAssignments, projectMembers } = accounts;
    const scope = { organizationId, projectId: undefined };
    const principal = { type: "group", id: reference.id } as const;
    for (const change of [
      () => groups.rename(OPERATOR, reference, "Data science"),
      () => groups.addMember(OPERATOR, reference, userId),
      () => groups.removeMember(OPERATOR, reference, userId),
      () => groups.delete(OPERATOR, reference),
      () => roleAssignments.assign(OPERATOR, scope, principal, "role_organization_owner"),
      () => roleAssignments.unassign(OPERATOR, scope, principal, "role_organization_owner"),
      () => projectMembers.putGroup(OPERATOR, { organizationId, id: project }, reference.id, PROJECT_ROLE_IDS.owner),
      () => projectMembers.removeGroup(OPERATOR, { organizationId, id: project }, reference.id),
    ]) {
      await expect(change()).rejects.toMatchObject({ kind: "conflict", code: "provider_managed" });
    }
  });

  test("what a removed rule or provider gave ends with it", async () => {
    const { newUser, apply, signIn, access, providerGroups, listGroups, removeProviders } = await open(kind);
    const ada = await newUser();
    await apply(ruled({ group: "ds", role: "owner" }, { group: "*", role: "member" }));
    await signIn(ada, ["ds", "*"]);
    expect((await providerGroups(ada)).toSorted()).toEqual(["*", "ds"]);
    await apply(ruled({ group: "*", role: "member" }));
    expect((await access(ada))?.organization).not.toContain("organization.write");
    expect((await access(ada))?.organization).toContain("organization.projects.write");
    await removeProviders();
    expect(await access(ada)).toEqual({ organization: [], projects: {} });
    expect(await listGroups()).toEqual([]);
  });

  test("the audit log says what rules and sign-ins give and take, and nothing when that is nothing", async () => {
    const { accounts, organizationId, newUser, apply, signIn, takeAudited, removeProviders } = await open(kind);
    const ada = await newUser();
    const { id: project } = await accounts.projects.create(OPERATOR, organizationId, "Team");
    const [{ owner }, { viewer, member }] = [ORGANIZATION_ROLE_IDS, PROJECT_ROLE_IDS];
    await takeAudited();
    const rule = { group: "ds", role: "owner", project, projectRole: "viewer" };
    await apply(ruled(rule));
    const applied = await takeAudited();
    const group = applied.find(({ type }) => type === "group.created")?.resourceId;
    const changed = (change: "created" | "deleted", roleId: string) => ({
      type: `role.assignment.${change}`,
      resourceId: roleId,
      details: { principalId: group, principalType: "group", roleId },
    });
    const ofGroup = (type: string, details: object) => ({ type, resourceId: group, details });
    const inAnyOrder = <Entry>(entries: Entry[]) => entries.map((entry) => JSON.stringify(entry)).toSorted();
    expect(inAnyOrder(applied)).toEqual(
      inAnyOrder([
        ofGroup("group.created", { groupName: "a/ds" }),
        changed("created", owner),
        changed("created", viewer),
      ]),
    );
    const { issuer: source } = PROVIDER;
    await signIn(ada, ["ds"]);
    expect(await takeAudited()).toEqual([ofGroup("group.updated", { addedUserId: ada.id, source })]);
    await apply(ruled(rule));
    await signIn(ada, ["ds"]);
    expect(await takeAudited()).toEqual([]);

    await apply(ruled({ group: "ds", project, projectRole: "member" }));
    const others = [changed("deleted", owner), changed("deleted", viewer), changed("created", member)];
    expect(inAnyOrder(await takeAudited())).toEqual(inAnyOrder(others));
    await signIn(ada, []);
    expect(await takeAudited()).toEqual([ofGroup("group.updated", { removedUserId: ada.id, source })]);
    await removeProviders();
    const removed = [changed("deleted", member), ofGroup("group.deleted", {})];
    expect(inAnyOrder(await takeAudited())).toEqual(inAnyOrder(removed));
  });

  test("the key of a user stops with the provider that gave the user the project", async () => {
    const { accounts, organizationId, newUser, apply, signIn, removeProviders } = await open(kind);
    const ada = await newUser();
    const { id: projectId } = await accounts.projects.create(OPERATOR, organizationId, "Team");
    await apply(ruled({ group: "ds", project: projectId }));
    await signIn(ada, ["ds"]);
    const scope = { organizationId, projectId, kind: "project", userId: ada.id } as const;
    const { secret } = await accounts.apiKeys.create(OPERATOR, { scope, name: "Mine", expiresInSeconds: undefined });
    expect((await accounts.authenticate(secret.reveal())).access?.projects[projectId]).toContain("project.inference");
    await removeProviders();
    const access = await accounts.authenticate(secret.reveal()).then(
      (caller) => caller.access,
      () => ({ organization: [], projects: {} }),
    );
    expect(access).toEqual({ organization: [], projects: {} });
  });

  test("a project of a rule is the one that its name stood for at first", async () => {
    const { accounts, organizationId, newUser, apply, signIn, access } = await open(kind);
    const ada = await newUser();
    const rules = ruled({ group: "ds", project: "Data science" });
    expect(await apply(rules)).toMatchObject([{ problem: "There is no project `Data science`." }]);
    const original = await accounts.projects.create(OPERATOR, organizationId, "Data science");
    expect(await apply(rules)).toEqual([]);
    await signIn(ada, ["ds"]);
    await accounts.projects.rename(OPERATOR, original, "Research");
    await accounts.projects.create(OPERATOR, organizationId, "Data science");
    expect(await apply(rules)).toEqual([]);
    expect(Object.keys((await access(ada))?.projects ?? {})).toEqual([original.id]);
    await accounts.projects.archive(OPERATOR, original);
    expect(await apply(rules)).toMatchObject([{ problem: expect.stringContaining("stood for was archived") }]);
  });

  test("a name of two projects is refused, and an ID is not", async () => {
    const { accounts, organizationId, apply } = await open(kind);
    const first = await accounts.projects.create(OPERATOR, organizationId, "Twin");
    await accounts.projects.create(OPERATOR, organizationId, "Twin");
    expect(await apply(ruled({ group: "ds", project: "Twin" }))).toMatchObject([
      { problem: "Several projects have the name `Twin`. Set the ID of one in its place." },
    ]);
    expect(await apply(ruled({ group: "ds", project: first.id }))).toEqual([]);
  });
});
