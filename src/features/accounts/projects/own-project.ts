import type { FastifyRequest } from "fastify";

/** Narrows a filter by project to the caller's own, if its key belongs to one. */
export function ownProject(
  { caller }: FastifyRequest,
  asked: readonly string[] | undefined,
): readonly string[] | undefined {
  const { projectId } = caller;
  if (projectId === undefined) return asked;
  return asked === undefined || asked.includes(projectId) ? [projectId] : [];
}
