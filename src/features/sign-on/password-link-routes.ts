import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import { toPasswordLink } from "../../wire/openai/console-session.ts";
import { PasswordLink } from "../../wire/openapi/service-answers.ts";
import { authorOf } from "../accounts/index.ts";
import type { Passwords } from "./passwords.ts";

/** POST /v1/organization/users/:user/password_link */
export function passwordLinks(passwords: Passwords): FastifyPluginAsync {
  return routes(
    operation(
      "POST /users/:user/password_link",
      {
        grants: "credential",
        summary: "Creates a link with which a user sets a password, once, within a day. Not in OpenAI's API.",
        tag: "People",
        permission: "admin",
        requires: "organization.users.write",
        answer: PasswordLink,
      },
      async ({ params, caller, request }) => {
        const { organizationId } = caller;
        const token = await passwords.createLink(authorOf(request), { organizationId, id: params.user });
        return toPasswordLink(token.reveal(), DAY_SECONDS);
      },
    ),
  );
}
