import type { WireScript } from "./wire-script.ts";

/** Provisioning of users and groups. */
export const scim: WireScript = async ({ recorder, adminKey }) => {
  const admin = <Answer = Record<string, string>>(title: string, route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} /v1/organization${path}`, { key: adminKey, body });
  };
  const key = await admin<{ id: string; value: string }>("create a key", "POST /admin_api_keys", {
    name: "Directory",
    permissions: ["organization.scim.write"],
  });
  const send = <Answer = Record<string, string>>(
    title: string,
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} /scim/v2${path}`, { key: key.value, body, headers });
  };
  await send("configuration", "GET /ServiceProviderConfig");
  await send("resource types", "GET /ResourceTypes");
  await send("resource type", "GET /ResourceTypes/User");
  await send("schemas", "GET /Schemas");
  await send("schema", "GET /Schemas/urn:ietf:params:scim:schemas:core:2.0:Group");
  await send("unknown schema", "GET /Schemas/urn:none");

  const user = await send("create a user", "POST /Users", {
    userName: "Grace@example.com",
    displayName: "Grace Hopper",
    externalId: "00u1",
  });
  await send("create a user twice", "POST /Users", { userName: "grace@example.com" });
  await send("create a user without an address", "POST /Users", { userName: "grace" });
  await send("list users", "GET /Users?filter=externalId%20eq%20%2200u1%22");
  await send("wrong filter", "GET /Users?filter=userName");
  await send("retrieve a user", `GET /Users/${user.id}?attributes=userName`);
  await send("replace a user", `PUT /Users/${user.id}`, { userName: "grace@example.com", title: "Admiral" });
  await send("change a user", `PATCH /Users/${user.id}`, {
    Operations: [{ op: "Replace", value: { active: "False" } }],
  });
  await send("wrong operation", `PATCH /Users/${user.id}`, { Operations: [{ op: "move" }] });
  await send("outdated version", `PUT /Users/${user.id}`, { userName: "x@example.com" }, { "if-match": 'W/"old"' });
  await send("search users", "POST /Users/.search", { filter: 'title eq "admiral"', attributes: ["title"] });

  const group = await send("create a group", "POST /Groups", { displayName: "Navy", members: [{ value: user.id }] });
  await send("retrieve a group", `GET /Groups/${group.id}`);
  await send("list groups", "GET /Groups?filter=displayName%20eq%20%22navy%22&excludedAttributes=members");
  await send("search groups", "POST /Groups/.search", { filter: 'displayName eq "Navy"' });
  await send("search everything", "POST /.search", { filter: 'displayName eq "Navy"' });
  await send("replace a group", `PUT /Groups/${group.id}`, { displayName: "Fleet", members: [{ value: user.id }] });
  await send("change a group", `PATCH /Groups/${group.id}`, { Operations: [{ op: "remove", path: "members" }] });
  await send("delete a group", `DELETE /Groups/${group.id}`);
  await send("delete a user", `DELETE /Users/${user.id}`);
  await send("unknown user", `GET /Users/${user.id}`);
  await send("unknown path", "GET /Everything");
  await recorder.send("without a key", "GET /scim/v2/Users");
  await admin("revoke the key", `DELETE /admin_api_keys/${key.id}`);
};
