import type { WireScript } from "./wire-script.ts";

/** Invites, groups and roles. */
export const people: WireScript = async ({ recorder, adminKey }) => {
  const send = <Answer = Record<string, string>>(title: string, route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} /v1${path}`, { key: adminKey, body });
  };
  const project = (await send("create a project", "POST /organization/projects", { name: "Team" })).id;
  const invite = await send("invite", "POST /organization/invites", {
    email: "Ada@example.com",
    role: "reader",
    projects: [{ id: project, role: "member" }],
  });
  await send("invite twice", "POST /organization/invites", { email: "ada@example.com", role: "owner" });
  await send("invite without an address", "POST /organization/invites", { email: "ada", role: "owner" });
  await send("list invites", "GET /organization/invites?limit=1");
  await send("retrieve an invite", `GET /organization/invites/${invite.id}`);
  await send("withdraw an invite", `DELETE /organization/invites/${invite.id}`);
  await send("unknown invite", `GET /organization/invites/${invite.id}`);

  await send("list users", "GET /organization/users");
  await send("unknown user", "GET /organization/users/user_none");
  await send("unknown user's roles", "GET /organization/users/user_none/roles");

  const group = `/organization/groups/${(await send("create a group", "POST /organization/groups", { name: "Labs" })).id}`;
  await send("create a group twice", "POST /organization/groups", { name: "labs" });
  await send("list groups", "GET /organization/groups");
  await send("retrieve a group", `GET ${group}`);
  await send("rename a group", `POST ${group}`, { name: "Research" });
  await send("add an unknown user", `POST ${group}/users`, { user_id: "user_none" });
  await send("list users of a group", `GET ${group}/users`);
  await send("unknown user of a group", `GET ${group}/users/user_none`);

  const role = await send("create a role", "POST /organization/roles", {
    role_name: "Auditor",
    permissions: ["organization.audit_logs.read"],
    description: "Reads the audit log.",
  });
  await send("unknown permission", "POST /organization/roles", { role_name: "Root", permissions: ["everything"] });
  await send("list roles", "GET /organization/roles?limit=2");
  await send("retrieve a role", `GET /organization/roles/${role.id}`);
  await send("change a role", `POST /organization/roles/${role.id}`, { role_name: "Reviewer" });
  await send("change a built-in role", "POST /organization/roles/role_organization_owner", { permissions: [] });
  await send("assign a role to a group", `POST ${group}/roles`, { role_id: role.id });
  await send("list the roles of a group", `GET ${group}/roles`);
  await send("retrieve a role of a group", `GET ${group}/roles/${role.id}`);
  await send("take a role from a group", `DELETE ${group}/roles/${role.id}`);
  await send("delete a role", `DELETE /organization/roles/${role.id}`);

  const roles = `/projects/${project}/roles`;
  const keys = await send("create a role of a project", `POST ${roles}`, {
    role_name: "Keys",
    permissions: ["project.keys.read"],
  });
  await send("permission of the organization", `POST ${roles}`, { role_name: "x", permissions: ["organization.read"] });
  await send("list the roles of a project", `GET ${roles}`);
  const groups = `/organization/projects/${project}/groups`;
  const id = group.split("/").at(-1);
  await send("add a group to a project", `POST ${groups}`, { group_id: id, role: "viewer" });
  await send("list the groups of a project", `GET ${groups}`);
  await send("retrieve a group of a project", `GET ${groups}/${id}`);
  const assigned = `/projects/${project}/groups/${id}/roles`;
  await send("assign a role in a project", `POST ${assigned}`, { role_id: keys.id });
  await send("list roles in a project", `GET ${assigned}`);
  await send("take a role in a project", `DELETE ${assigned}/${keys.id}`);
  await send("remove a group from a project", `DELETE ${groups}/${id}`);
  await send("list the users of a project", `GET /organization/projects/${project}/users`);
  await send("add an unknown user to a project", `POST /organization/projects/${project}/users`, {
    email: "nobody@example.com",
    role: "member",
  });
  await send("delete a group", `DELETE ${group}`);
  await send("export an unknown user", "GET /organization/users/user_none/export");
  await send("erase an unknown user", "POST /organization/users/user_none/erase");
  await send("export an end user", "GET /organization/end_users/customer-1/export");
  await send("erase an end user", "POST /organization/end_users/customer-1/erase");
  await send("archive the project", `POST /organization/projects/${project}/archive`);
};
