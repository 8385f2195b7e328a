import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { sessionToken, setSessionCookie } from "../../http/session-cookie.ts";
import { Fault } from "../../kernel/faults.ts";
import { Secret } from "../../kernel/secret.ts";
import {
  ConsoleFirstOwnerBody,
  ConsoleInviteAcceptBody,
  ConsoleInviteBody,
  ConsolePasswordBody,
  toConsoleInvite,
} from "../../wire/openai/console-session.ts";
import { ConsoleInvite, ConsoleSession } from "../../wire/openapi/service-answers.ts";
import { operatorOfSession } from "../sign-on/index.ts";
import { actorOf, countFailures, guardSessions, requireUserSession } from "./console-requests.ts";
import { type ConsoleSessionParts, describeSession } from "./describe-session.ts";

/** POST /console/password, /console/invite and /console/first_owner, which begin sessions of users */
export function consolePeople(parts: ConsoleSessionParts): FastifyPluginAsync {
  const { accounts, passwords, countWrongKey } = parts;
  const counted = countFailures(countWrongKey);
  return routes(
    guardSessions,
    operation(
      "POST /console/password",
      {
        grants: "credential",
        summary: "Sets a user's password, with the token of a link or the current password, and signs in with it.",
        tag: "Service",
        permission: "console",
        body: ConsolePasswordBody,
        answer: ConsoleSession,
      },
      async ({ body, request, reply }) => {
        const password = new Secret(body.password);
        const session = await counted(request, async () => {
          if ("token" in body) return passwords.setByLink(actorOf(request), body.token, password);
          const current = await requireUserSession(parts, request);
          return passwords.change(actorOf(request), current, new Secret(body.current_password), password);
        });
        setSessionCookie(request, reply, session);
        return describeSession(parts, session.token.reveal());
      },
    ),
    operation(
      "POST /console/invite",
      {
        summary: "Describes the invite of a token.",
        tag: "Service",
        permission: "console",
        body: ConsoleInviteBody,
        answer: ConsoleInvite,
      },
      async ({ body, request }) => {
        const { token } = body;
        const invite = await counted(request, () => accounts.invites.check(token));
        return toConsoleInvite({
          ...invite,
          organization: await accounts.organizations.retrieve(invite.organizationId),
        });
      },
    ),
    operation(
      "POST /console/invite/accept",
      {
        grants: "credential",
        summary: "Accepts an invite with a password, and signs in. With a provider: `/sign-on/{id}/start?invite=…`.",
        tag: "Service",
        permission: "console",
        body: ConsoleInviteAcceptBody,
        answer: ConsoleSession,
      },
      async ({ body, request, reply }) => {
        const { token, name, password } = body;
        const accepted = { token, name, password: new Secret(password) };
        const session = await counted(request, () => passwords.acceptInvite(actorOf(request), accepted));
        setSessionCookie(request, reply, session);
        return describeSession(parts, session.token.reveal());
      },
    ),
    operation(
      "POST /console/first_owner",
      {
        grants: "credential",
        summary: "Makes the operator, signed in with a link, the first owner of the organization, with a password.",
        tag: "Service",
        permission: "console",
        body: ConsoleFirstOwnerBody,
        answer: ConsoleSession,
      },
      async ({ body: { email, name, password }, request, reply }) => {
        const operator = await operatorOfSession(accounts, sessionToken(request));
        if (operator === undefined) {
          throw new Fault(
            "forbidden",
            "Only the operator, signed in with an admin key or link, makes the first owner.",
          );
        }
        const { keyId, sessionId, access } = operator;
        const owner = { email, name, password: new Secret(password) };
        const session = await passwords.addFirstOwner({ ...actorOf(request), keyId, sessionId, access }, owner);
        setSessionCookie(request, reply, session);
        return describeSession(parts, session.token.reveal());
      },
    ),
  );
}
