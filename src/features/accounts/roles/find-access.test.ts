import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../../test/support/databases/databases.ts";
import { allows, projectsWith } from "../../../http/access.ts";
import { type Database, openDatabase } from "../../../storage/database.ts";
import type { AccountExtensions } from "../extensions.ts";
import { insertGroup, insertGroupMember } from "../groups/group-queries.ts";
import { setGroupsOfUser } from "../groups/groups.ts";
import { insertOrganization } from "../organizations/organization-queries.ts";
import type { UserRow } from "../people-rows.ts";
import { insertProject } from "../projects/project-queries.ts";
import { insertUser, updateUserRow } from "../users/user-queries.ts";
import { PROJECT_ROLE_IDS } from "./built-in-roles.ts";
import { findAccess, findGrants } from "./find-access.ts";
import { insertAssignment, insertRole, putProjectGroup, putProjectUser } from "./role-queries.ts";

const databases = useDatabases();
const opened: Database[] = [];
const common = { isDefault: 0, createdAt: 1, archivedAt: null };
const ADA: UserRow = {
  ...{ id: "user_ada", organizationId: "org", email: "ada@example.com", name: "Ada", role: "reader" },
  ...{ addedAt: 1, disabledAt: null, lastActiveAt: null, isScimManaged: 0 },
};

afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
});

async function openWithPeople(kind: (typeof DATABASE_KINDS)[number]): Promise<Database> {
  const database = openDatabase(await databases.create(kind));
  opened.push(database);
  await database.run(async (executor) => {
    await insertOrganization(executor, { id: "org", name: "Organization", ...common });
    for (const id of ["proj_a", "proj_b"]) {
      await insertProject(executor, { id, organizationId: "org", name: id, ...common });
    }
    await insertUser(executor, ADA);
    const group = { organizationId: "org", isScimManaged: 0, createdAt: 1 };
    await insertGroup(executor, { ...group, id: "group_ml", name: "ML", nameKey: "ml" });
    await insertGroup(executor, { ...group, id: "group_ops", name: "Ops", nameKey: "ops" });
  });
  return database;
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("a user has the permissions of each membership, and none elsewhere", async () => {
    const database = await openWithPeople(kind);
    const access = await database.run(async (executor) => {
      await putProjectUser(executor, {
        projectId: "proj_a",
        userId: ADA.id,
        roleId: PROJECT_ROLE_IDS.member,
        addedAt: 1,
      });
      return (await findAccess(executor, [{ user: ADA }])).get(ADA.id);
    });
    expect(access?.organization).toEqual([]);
    expect(allows(access, "project.inference", "proj_a")).toBe(true);
    expect(allows(access, "project.inference", "proj_b")).toBe(false);
    expect(allows(access, "project.keys.write", "proj_a")).toBe(false);
    expect(allows(access, "project.inference")).toBe(false);
    expect(allows(access, "project.inference", "constructor")).toBe(false);
    expect(projectsWith(access, "project.read")).toEqual(["proj_a"]);
  });

  test("groups of a source are replaced, and groups that a provider names count in addition", async () => {
    const database = await openWithPeople(kind);
    await database.transaction(async (executor) => {
      await putProjectGroup(executor, {
        projectId: "proj_a",
        groupId: "group_ml",
        roleId: PROJECT_ROLE_IDS.viewer,
        addedAt: 1,
      });
      await insertGroupMember(executor, { groupId: "group_ml", userId: ADA.id, source: "manual", createdAt: 1 });
      const extensions = {} as AccountExtensions;
      const transaction = { executor, now: 2, audit: async () => {}, extensions };
      const set = (ids: string[]) => setGroupsOfUser(transaction, ADA, "https://idp.example.com", ids);
      expect(await set(["group_ml", "group_ops"])).toBe(true);
      expect(await set(["group_ops", "group_ml"])).toBe(false);
      expect(await set([])).toBe(true);
    });
    const grants = await database.run((executor) => findGrants(executor, [{ user: ADA }]));
    expect(grants.get(ADA.id)).toMatchObject([
      { roleName: "reader", projectId: undefined, source: { type: "user", name: "Ada" } },
      { roleName: "viewer", projectId: "proj_a", source: { type: "group", name: "ML" } },
    ]);
    const named = await database.run(async (executor) => {
      const role = { id: "role_ops", organizationId: "org", scopeId: "org", name: "Operator", nameKey: "operator" };
      const times = { createdAt: 1, updatedAt: 1 };
      const permissions = JSON.stringify(["organization.read", "project.usage.read", "permission.of.a.newer.version"]);
      await insertRole(executor, { ...role, ...times, description: null, permissions, createdBy: null });
      const assignment = { organizationId: "org", scopeId: "org", principalId: "group_ops", roleId: "role_ops" };
      await insertAssignment(executor, { ...assignment, createdAt: 1 });
      await insertGroupMember(executor, { groupId: "group_ops", userId: ADA.id, source: "scim", createdAt: 1 });
      return findAccess(executor, [{ user: ADA }]);
    });
    expect(named.get(ADA.id)?.organization).toEqual(["organization.read", "project.usage.read"]);
    expect(allows(named.get(ADA.id), "project.usage.read", "proj_b")).toBe(true);
  });

  test("a disabled user has no permissions", async () => {
    const database = await openWithPeople(kind);
    const access = await database.run(async (executor) => {
      await updateUserRow(executor, ADA.id, { role: "owner", disabledAt: 5 });
      return findAccess(executor, [{ user: { ...ADA, role: "owner", disabledAt: 5 } }]);
    });
    expect(access.get(ADA.id)).toEqual({ organization: [], projects: {} });
    expect(allows(access.get(ADA.id), "organization.read")).toBe(false);
  });
});
