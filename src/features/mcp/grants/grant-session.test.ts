import { expect, test } from "vitest";
import type { OpenGrant } from "./grant-refresh.ts";
import { GrantSession } from "./grant-session.ts";

test.each([
  ["files:read https://example.com/admin", " (files:read https://example.com/admin)"],
  ["files:read\u00a0now", ""],
  ['"admin"', ""],
  ["admin ", ""],
])("names the missing scopes %j as a server may write them", async (scopes, named) => {
  const none = async () => undefined;
  const session = new GrantSession({} as OpenGrant, {
    ...{ refresh: none, read: none, noteMissing: none },
    required: (reason) => new Error(reason),
  });
  await expect(session.refuseScopes(scopes)).rejects.toThrow(`The server asks for further permissions${named}.`);
});
