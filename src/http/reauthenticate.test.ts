import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import type { Access, Caller } from "../contracts/caller.ts";
import { reauthenticate } from "./standing.ts";

const MEMBER: Access = { organization: [], projects: { proj_a: ["project.inference"] } };
const VIEWER: Access = { organization: [], projects: { proj_a: ["project.usage.read"] } };

function callerWith(access: Access): Caller {
  return { keyId: "key_a", organizationId: "org_a", projectId: "proj_a", kind: "project", userId: "user_a", access };
}

/** A WebSocket or stream that was admitted for a member. */
const request = {
  headers: { authorization: "Bearer sk-a" },
  caller: callerWith(MEMBER),
  params: {},
  routeOptions: { config: { operation: { permission: "project" } } },
} as unknown as FastifyRequest;

const accountsOf = (access: Access) => ({
  authenticate: async () => callerWith(access),
  authenticateSession: async () => undefined,
});

test("a long request goes on while its user has the permission", async () => {
  expect(await reauthenticate(request, accountsOf(MEMBER))).toMatchObject({ access: MEMBER });
});

test("a long request does nothing more once its user lost the permission", async () => {
  await expect(reauthenticate(request, accountsOf(VIEWER))).rejects.toMatchObject({ code: "insufficient_permissions" });
});

test("the operator stays in the organization that a long request named", async () => {
  const operator = { keyId: "key_o", projectId: undefined, kind: "admin" as const, isOperator: true as const };
  const acting = { ...operator, organizationId: "org_b" };
  const accounts = {
    authenticate: async () => ({ ...operator, organizationId: "org_a" }),
    authenticateSession: async () => undefined,
  };
  const long = { ...request, caller: acting } as unknown as FastifyRequest;
  expect(await reauthenticate(long, accounts)).toBe(acting);
});
