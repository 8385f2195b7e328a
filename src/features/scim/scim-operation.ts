import type { FastifyRequest } from "fastify";

/** What the operations of SCIM have in common. */
export const SCIM_OPERATION = { tag: "SCIM", permission: "admin", requires: "organization.scim.write" } as const;

/** Address of the API, as the client reached it. */
export function baseOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}/scim/v2`;
}
