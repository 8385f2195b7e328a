import type { FastifyRequest } from "fastify";

/** Returns the project of the caller; keys without one are refused before any route. */
export function projectOf({ caller }: Pick<FastifyRequest, "caller">): string {
  return caller.projectId ?? "";
}
