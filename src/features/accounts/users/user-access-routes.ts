import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../../http/operation.ts";
import { toUserAccess } from "../../../wire/openai/organization/organization-access.ts";
import { UserAccess } from "../../../wire/openapi/people-answers.ts";
import type { Accounts } from "../accounts.ts";
import { findGrants } from "../roles/find-access.ts";
import { findExistingUser } from "./users.ts";

/** GET /v1/organization/users/{user}/access */
export function userAccess(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "GET /users/:user/access",
      {
        summary:
          "Says what a user may do and why: each role, where it applies, and the group that it comes from. Every user may read their own. Not in OpenAI's API.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.read",
        requiresOfSelf: "signed-in",
        answer: UserAccess,
      },
      async ({ params, caller }) => {
        const { organizationId } = caller;
        return accounts.run(async (executor) => {
          const user = await findExistingUser(executor, { organizationId, id: params.user });
          const grants = (await findGrants(executor, [{ user }])).get(user.id) ?? [];
          const projectIds = [...new Set(grants.flatMap(({ projectId }) => projectId ?? []))];
          const projects =
            projectIds.length === 0
              ? []
              : await executor.selectFrom("projects").select(["id", "name"]).where("id", "in", projectIds).execute();
          const names = new Map(projects.map(({ id, name }) => [id, name]));
          return toUserAccess(user.id, grants, (id) => names.get(id) ?? id);
        });
      },
    ),
  );
}
