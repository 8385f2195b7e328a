import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import { toSignInCode } from "../../wire/openai/console-session.ts";
import { SignInCode } from "../../wire/openapi/service-answers.ts";
import { type Accounts, actorOf } from "../accounts/index.ts";

/**
 * POST /v1/organization/console_sign_in_codes. A code signs in with the operator's keys, so that only unrestricted
 * keys of the operator's organization create one, and no session of theirs.
 */
export function signInCodes(accounts: Accounts): FastifyPluginAsync {
  return routes(
    operation(
      "POST /console_sign_in_codes",
      {
        grants: "credential",
        summary:
          "Creates a code that signs in to the console with the operator's keys, once, within an hour. Not in OpenAI's API; unrestricted admin keys of the default organization only, which belong to no user, and no sessions of the console.",
        tag: "Organization",
        permission: "admin",
        requires: "no-user",
        answer: SignInCode,
      },
      async ({ caller, request }) => {
        if (!(await accounts.organizations.isDefault(caller.organizationId))) {
          throw new Fault("forbidden", "Only the default organization signs in to the console with a code.");
        }
        return toSignInCode((await accounts.consoleSessions.createSignInCode(actorOf(request))).reveal());
      },
    ),
  );
}
