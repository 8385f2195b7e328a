/** Users, invites, groups, roles and their assignments over HTTP, through the official client. */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { type Administration, startAdministration } from "../../../test/support/service/administration.ts";
import type * as Answers from "../../wire/openapi/people-answers.ts";
import { OPERATOR } from "./audit/audit.ts";
import { PROJECT_ROLE_IDS } from "./roles/built-in-roles.ts";

const databases = useDatabases();

type Client = OpenAI["admin"]["organization"];
type Resolved<Method extends (...parameters: never[]) => PromiseLike<unknown>> = Awaited<ReturnType<Method>>;

test("the answers have the types of the official client", () => {
  expectTypeOf<z.output<typeof Answers.User>>().toExtend<Resolved<Client["users"]["retrieve"]>>();
  // OpenAI's invites know the roles owner and reader only.
  type Invite = Omit<Resolved<Client["invites"]["retrieve"]>, "role" | "projects">;
  expectTypeOf<z.output<typeof Answers.Invite>>().toExtend<Invite>();
  expectTypeOf<z.output<typeof Answers.Group>>().toExtend<Resolved<Client["groups"]["retrieve"]>>();
  expectTypeOf<z.output<typeof Answers.UpdatedGroup>>().toExtend<Resolved<Client["groups"]["update"]>>();
  expectTypeOf<z.output<typeof Answers.GroupMember>>().toExtend<Resolved<Client["groups"]["users"]["retrieve"]>>();
  expectTypeOf<z.output<typeof Answers.AddedGroupUser>>().toExtend<Resolved<Client["groups"]["users"]["create"]>>();
  expectTypeOf<z.output<typeof Answers.Role>>().toExtend<Resolved<Client["roles"]["retrieve"]>>();
  expectTypeOf<z.output<typeof Answers.AssignedRole>>().toExtend<Resolved<Client["users"]["roles"]["retrieve"]>>();
  expectTypeOf<z.output<typeof Answers.UserRole>>().toExtend<Resolved<Client["users"]["roles"]["create"]>>();
  expectTypeOf<z.output<typeof Answers.GroupRole>>().toExtend<Resolved<Client["groups"]["roles"]["create"]>>();
  type Projects = Client["projects"];
  expectTypeOf<z.output<typeof Answers.ProjectUser>>().toExtend<Resolved<Projects["users"]["retrieve"]>>();
  expectTypeOf<z.output<typeof Answers.ProjectGroup>>().toExtend<Resolved<Projects["groups"]["retrieve"]>>();
  expectTypeOf<z.output<typeof Answers.AssignedRole>>().toExtend<Resolved<Projects["users"]["roles"]["retrieve"]>>();
});

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Administration;
  let count = 0;
  beforeAll(async () => {
    service = await startAdministration(await databases.create(kind));
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const admin = () => service.admin.admin.organization;
  const newEmail = () => {
    count += 1;
    return `person-${count}@example.com`;
  };
  const newProject = async () => (await admin().projects.create({ name: "Team" })).id;

  async function invite(body: object): Promise<{ id: string; email: string; token: string }> {
    return (await service.send("POST", "/invites", { role: "reader", ...body })).body;
  }

  async function newUser(role = "reader") {
    const { token, email } = await invite({ email: newEmail(), role });
    return service.accounts.invites.accept(OPERATOR, { token, email, name: "Ada" });
  }

  test("invites a person, who joins with the roles of the invite", async () => {
    const project = await newProject();
    const email = newEmail();
    const created = await admin().invites.create({
      email: email.toUpperCase(),
      role: "reader",
      projects: [{ id: project, role: "member" }],
    });
    const { token, ...shown } = created as typeof created & { token: string };
    expect(shown).toMatchObject({
      email,
      role: "reader",
      status: "pending",
      projects: [{ id: project, role: "member" }],
    });
    expect(await admin().invites.retrieve(created.id)).toEqual(shown);
    expect((await admin().invites.list({ limit: 1 })).data).toEqual([shown]);
    await expect(admin().invites.create({ email, role: "reader" })).rejects.toMatchObject({ status: 409 });

    const user = await service.accounts.invites.accept(OPERATOR, { token, email, name: "Ada Lovelace" });
    expect(await admin().invites.retrieve(created.id)).toMatchObject({ status: "accepted" });
    const retrieved = await admin().users.retrieve(user.id);
    expect(retrieved).toMatchObject({ email, name: "Ada Lovelace", role: "reader" });
    expect(retrieved.projects?.data).toEqual([{ id: project, name: "Team", role: "member" }]);
    expect((await admin().projects.users.list(project)).data).toMatchObject([{ id: user.id, role: "member", email }]);
    await expect(admin().invites.create({ email, role: "reader" })).rejects.toMatchObject({ status: 409 });
    await expect(admin().invites.delete(created.id)).rejects.toMatchObject({ status: 400 });
    expect((await admin().users.list({ emails: [email] })).data).toEqual([retrieved]);
    expect((await admin().users.list({ emails: ["nobody@example.com"] })).data).toEqual([]);
  });

  test("refuses an invite that is used twice, has expired, was withdrawn, or names another address", async () => {
    const accept = (token: string, email: string) =>
      service.accounts.invites.accept(OPERATOR, { token, email, name: undefined });
    const used = await invite({ email: newEmail() });
    await expect(accept(used.token, "other@example.com")).rejects.toMatchObject({ code: "invite_address_mismatch" });
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => accept(used.token, used.email)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "invite_used" });
    }
    expect((await admin().users.list({ emails: [used.email] })).data).toHaveLength(1);

    const expired = await invite({ email: newEmail(), expires_in_seconds: 1 });
    await expect
      .poll(async () => (await admin().invites.retrieve(expired.id)).status, { interval: 100 })
      .toBe("expired");
    await expect(accept(expired.token, expired.email)).rejects.toMatchObject({ code: "invite_expired" });
    // The address can be invited again.
    const withdrawn = await invite({ email: expired.email });
    expect(await admin().invites.delete(withdrawn.id)).toMatchObject({ deleted: true });
    await expect(accept(withdrawn.token, withdrawn.email)).rejects.toMatchObject({ code: "invite_not_found" });
    await expect(accept("inv-guess", withdrawn.email)).rejects.toMatchObject({ code: "invite_not_found" });
  });

  test("keeps one of two owners who remove or demote each other at once", async () => {
    const service = await startAdministration(await databases.create(kind));
    const { organization } = service.admin.admin;
    const newOwner = async (email: string) => {
      const { token } = (await service.send("POST", "/invites", { email, role: "owner" })).body;
      return service.accounts.invites.accept(OPERATOR, { token, email, name: email });
    };
    const [ada, bob] = [await newOwner("ada@example.com"), await newOwner("bob@example.com")];
    const removals = await Promise.allSettled([organization.users.delete(bob.id), organization.users.delete(ada.id)]);
    expect(removals.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const [last] = (await organization.users.list()).data;
    const eve = await newOwner("eve@example.com");
    const demotions = await Promise.allSettled(
      [last?.id ?? "", eve.id].map((id) => organization.users.update(id, { role: "reader" })),
    );
    expect(demotions.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const owners = (await organization.users.list()).data.filter(({ role }) => role === "owner");
    expect(owners).toHaveLength(1);
    const owner = owners[0]?.id ?? "";
    const refused = { status: 400, code: "last_owner" };
    await expect(organization.users.delete(owner)).rejects.toMatchObject(refused);
    await expect(organization.users.update(owner, { role: "member" })).rejects.toMatchObject(refused);
    await expect(organization.users.roles.delete("role_organization_owner", { user_id: owner })).rejects.toMatchObject(
      refused,
    );
    expect((await service.send("POST", `/users/${owner}`, { disabled: true })).body.error.code).toBe("last_owner");
    await service[Symbol.asyncDispose]();
  });

  test("changes, disables and removes users", async () => {
    const user = await newUser();
    await newUser("owner");
    expect(await admin().users.update(user.id, { role: "owner" })).toMatchObject({ role: "owner" });
    expect(await admin().users.update(user.id, { role_id: "role_organization_member" })).toMatchObject({
      role: "member",
    });
    await expect(admin().users.update(user.id, { role_id: "role_project_owner" })).rejects.toMatchObject({
      status: 400,
    });
    const disabled = await service.send("POST", `/users/${user.id}`, { disabled: true, name: "Ada K." });
    expect(disabled.body).toMatchObject({ name: "Ada K.", disabled_at: expect.any(Number), user: { enabled: false } });
    expect((await service.send("POST", `/users/${user.id}`, { disabled: false })).body.user.enabled).toBe(true);
    expect(await admin().users.delete(user.id)).toEqual({
      object: "organization.user.deleted",
      id: user.id,
      deleted: true,
    });
    await expect(admin().users.retrieve(user.id)).rejects.toMatchObject({ status: 404 });
    await expect(admin().users.delete(user.id)).rejects.toMatchObject({ status: 404 });
    const events = await admin().auditLogs.list({ resource_ids: [user.id] });
    expect(events.data.map(({ type }) => type)).toEqual([
      "user.deleted",
      "user.updated",
      "user.updated",
      "user.updated",
      "user.updated",
      "user.added",
    ]);
  });

  test("manages groups, their users and their roles", async () => {
    const group = await admin().groups.create({ name: `Research ${count}` });
    expect(await admin().groups.retrieve(group.id)).toEqual(group);
    await expect(admin().groups.create({ name: group.name.toUpperCase() })).rejects.toMatchObject({ status: 409 });
    const renamed = await admin().groups.update(group.id, { name: `Labs ${count}` });
    expect(renamed).toMatchObject({ id: group.id, name: `Labs ${count}` });
    const [ada, bob] = [await newUser(), await newUser()];
    for (const { id } of [ada, bob]) {
      expect(await admin().groups.users.create(group.id, { user_id: id })).toMatchObject({ user_id: id });
    }
    const members = await Array.fromAsync(admin().groups.users.list(group.id, { limit: 1 }));
    expect(members.map(({ id }) => id)).toEqual([bob.id, ada.id]);
    expect(await admin().groups.users.retrieve(ada.id, { group_id: group.id })).toMatchObject({ email: ada.email });
    expect(await admin().groups.users.delete(bob.id, { group_id: group.id })).toMatchObject({ deleted: true });
    await expect(admin().groups.users.delete(bob.id, { group_id: group.id })).rejects.toMatchObject({ status: 404 });

    const assigned = await admin().groups.roles.create(group.id, { role_id: "role_organization_member" });
    expect(assigned).toMatchObject({ object: "group.role", group: { id: group.id }, role: { name: "member" } });
    const inherited = await admin().users.roles.retrieve("role_organization_member", { user_id: ada.id });
    expect(inherited.assignment_sources).toEqual([{ principal_id: group.id, principal_type: "group" }]);
    await expect(admin().users.roles.delete("role_organization_member", { user_id: ada.id })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("Labs"),
    });
    expect((await admin().groups.roles.list(group.id)).data).toHaveLength(1);
    expect(await admin().groups.roles.retrieve("role_organization_member", { group_id: group.id })).toMatchObject({
      name: "member",
    });
    await admin().groups.roles.delete("role_organization_member", { group_id: group.id });
    await expect(admin().users.roles.retrieve("role_organization_member", { user_id: ada.id })).rejects.toMatchObject({
      status: 404,
    });
    expect((await Array.fromAsync(admin().groups.list({ limit: 1 }))).map(({ id }) => id)).toContain(group.id);
    expect(await admin().groups.delete(group.id)).toMatchObject({ deleted: true });
    await expect(admin().groups.retrieve(group.id)).rejects.toMatchObject({ status: 404 });
  });

  test("manages custom roles and refuses unknown permissions, taken names and changes of built-in roles", async () => {
    const { roles } = admin();
    const built = (await roles.list()).data.filter((role) => role.predefined_role);
    expect(built.map(({ name }) => name)).toEqual(["owner", "member", "reader"]);
    const role = await roles.create({
      role_name: `Auditor ${count}`,
      permissions: ["organization.audit_logs.read", "project.usage.read"],
      description: "Reads reports",
    });
    expect(await roles.retrieve(role.id)).toEqual(role);
    expect(role).toMatchObject({ resource_type: "api.organization", predefined_role: false });
    const updated = await roles.update(role.id, { permissions: ["project.usage.read"] });
    expect(updated).toEqual({ ...role, permissions: ["project.usage.read"] });
    const invalid = { status: 400, param: "permissions[0]" };
    await expect(roles.create({ role_name: "x", permissions: ["everything"] })).rejects.toMatchObject(invalid);
    await expect(roles.create({ role_name: "Owner", permissions: [] })).rejects.toMatchObject({ status: 409 });
    await expect(roles.create({ role_name: role.name, permissions: [] })).rejects.toMatchObject({ status: 409 });
    await expect(roles.update("role_organization_owner", { permissions: [] })).rejects.toMatchObject({ status: 400 });
    await expect(roles.delete("role_organization_reader")).rejects.toMatchObject({ status: 400 });

    const user = await newUser();
    expect(await admin().users.roles.create(user.id, { role_id: role.id })).toMatchObject({
      user: { id: user.id },
      role: { id: role.id },
    });
    expect((await Array.fromAsync(admin().users.roles.list(user.id, { limit: 1 }))).map(({ name }) => name)).toEqual([
      role.name,
      "reader",
    ]);
    await admin().users.roles.delete(role.id, { user_id: user.id });
    await admin().users.roles.create(user.id, { role_id: role.id });
    expect(await roles.delete(role.id)).toMatchObject({ deleted: true });
    expect((await admin().users.roles.list(user.id)).data.map(({ name }) => name)).toEqual(["reader"]);
  });

  test("manages the users, groups and roles of a project", async () => {
    const project = await newProject();
    const { projects } = admin();
    const params = { project_id: project };
    const [ada, bob] = [await newUser(), await newUser()];
    expect(await projects.users.create(project, { email: ada.email, role: "viewer" })).toMatchObject({
      id: ada.id,
      role: "viewer",
    });
    await expect(projects.users.create(project, { user_id: ada.id, role: "owner" })).rejects.toMatchObject({
      status: 409,
    });
    const strangers = { email: "nobody@example.com", role: "member" };
    await expect(projects.users.create(project, strangers)).rejects.toMatchObject({ status: 404 });
    await expect(projects.users.create(project, { user_id: bob.id, role: "king" })).rejects.toMatchObject({
      status: 404,
    });
    expect(await projects.users.update(ada.id, { ...params, role: "member" })).toMatchObject({ role: "member" });
    expect(await projects.users.retrieve(ada.id, params)).toMatchObject({ role: "member" });

    const role = await projects.roles.create(project, { role_name: "Keys", permissions: ["project.keys.read"] });
    await expect(
      projects.roles.create(project, { role_name: "Root", permissions: ["organization.write"] }),
    ).rejects.toMatchObject({ status: 400 });
    expect(await projects.roles.retrieve(role.id, params)).toEqual(role);
    expect(await projects.roles.update(role.id, { ...params, description: "Sees keys" })).toMatchObject({
      description: "Sees keys",
    });
    expect((await Array.fromAsync(projects.roles.list(project, { limit: 2 }))).map(({ name }) => name)).toEqual([
      "owner",
      "member",
      "viewer",
      "Keys",
    ]);
    await projects.users.roles.create(ada.id, { ...params, role_id: role.id });
    expect((await projects.users.roles.list(ada.id, params)).data.map(({ name }) => name)).toEqual(["Keys", "member"]);
    expect(await projects.users.roles.retrieve(role.id, { ...params, user_id: ada.id })).toMatchObject({ id: role.id });
    await projects.users.roles.delete(role.id, { ...params, user_id: ada.id });
    await expect(
      projects.users.roles.delete(PROJECT_ROLE_IDS.member, { ...params, user_id: ada.id }),
    ).rejects.toMatchObject({ status: 400 });
    await expect(projects.users.roles.create(bob.id, { ...params, role_id: role.id })).rejects.toMatchObject({
      status: 404,
    });

    const group = await admin().groups.create({ name: `Project group ${count}` });
    await admin().groups.users.create(group.id, { user_id: bob.id });
    expect(await projects.groups.create(project, { group_id: group.id, role: role.id })).toMatchObject({
      group_id: group.id,
      group_name: group.name,
    });
    await expect(projects.roles.delete(role.id, params)).rejects.toMatchObject({ status: 409 });
    expect((await projects.groups.list(project)).data).toHaveLength(1);
    expect(await projects.groups.retrieve(group.id, params)).toMatchObject({ project_id: project });
    await projects.groups.roles.create(group.id, { ...params, role_id: PROJECT_ROLE_IDS.viewer });
    expect((await projects.groups.roles.list(group.id, params)).data.map(({ name }) => name)).toEqual([
      "viewer",
      "Keys",
    ]);
    expect(
      await projects.groups.roles.retrieve(PROJECT_ROLE_IDS.viewer, { ...params, group_id: group.id }),
    ).toMatchObject({ predefined_role: true });
    await projects.groups.roles.delete(PROJECT_ROLE_IDS.viewer, { ...params, group_id: group.id });
    expect(await projects.groups.delete(group.id, params)).toMatchObject({ deleted: true });
    expect(await projects.roles.delete(role.id, params)).toMatchObject({ deleted: true });
    expect(await projects.users.delete(ada.id, params)).toMatchObject({ id: ada.id, deleted: true });
    expect((await projects.users.list(project)).data).toEqual([]);
  });
});
