import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import type { NewConsoleSession } from "../../http/session-cookie.ts";
import { clearSessionCookie, sessionToken, setSessionCookie } from "../../http/session-cookie.ts";
import { Fault } from "../../kernel/faults.ts";
import { Secret } from "../../kernel/secret.ts";
import { ConsoleProjectBody, ConsoleSignInBody, toSignedOut } from "../../wire/openai/console-session.ts";
import { ConsoleSession, SignedOut } from "../../wire/openapi/service-answers.ts";
import { consoleUrl } from "../sign-on/index.ts";
import { actorOf, countFailures, guardSessions, requireUserSession } from "./console-requests.ts";
import { type ConsoleSessionParts, callersOf, describeSession } from "./describe-session.ts";

/** /console/session: exchanges a key, code or password for a session, describes, changes and ends it. */
export function consoleSession(parts: ConsoleSessionParts): FastifyPluginAsync {
  const { accounts, userSessions, signOn, countWrongKey } = parts;
  const counted = countFailures(countWrongKey);
  return routes(
    guardSessions,
    operation(
      "POST /console/session",
      {
        grants: "credential",
        summary:
          "Signs in to the console: exchanges `key`, an API key or admin key, or a user's `email` and `password`, for a session cookie.",
        tag: "Service",
        permission: "console",
        body: ConsoleSignInBody,
        answer: ConsoleSession,
      },
      async ({ body, request, reply }) => {
        const session = await counted(request, () => signIn(parts, request, body));
        setSessionCookie(request, reply, session);
        return describeSession(parts, session.token.reveal());
      },
    ),
    operation(
      "GET /console/session",
      {
        summary: "Describes the session of the cookie.",
        tag: "Service",
        permission: "console",
        answer: ConsoleSession,
      },
      async ({ request }) => describeSession(parts, sessionToken(request)),
    ),
    operation(
      "POST /console/session/project",
      {
        grants: "credential",
        summary: "Chooses the project in which the session of a user calls models.",
        tag: "Service",
        permission: "console",
        body: ConsoleProjectBody,
        answer: ConsoleSession,
      },
      async ({ body: { project }, request }) => {
        const session = await requireUserSession(parts, request);
        await userSessions.chooseProject({ ...actorOf(request), userId: session.userId }, session, project);
        return describeSession(parts, sessionToken(request));
      },
    ),
    operation(
      "DELETE /console/session",
      {
        summary: "Ends the session of the cookie.",
        tag: "Service",
        permission: "console",
        answer: SignedOut,
      },
      async ({ request, reply }) => {
        const token = sessionToken(request);
        const session = token === undefined ? undefined : await userSessions.find(token);
        clearSessionCookie(request, reply);
        if (session !== undefined) {
          const url = signOn?.endSessionUrl(session, `${consoleUrl(request, signOn.settings.publicUrl)}/`);
          await userSessions.end({ ...actorOf(request), userId: session.userId }, session, "signed out");
          return toSignedOut(url);
        }
        const callers = await callersOf(accounts, token);
        const actor = { ...actorOf(request), keyId: (callers.admin ?? callers.project)?.keyId };
        if (token !== undefined) await accounts.consoleSessions.signOut(actor, token);
        return toSignedOut(undefined);
      },
    ),
  );
}

async function signIn(
  { accounts, passwords, signOn }: ConsoleSessionParts,
  request: FastifyRequest,
  body: ReturnType<typeof ConsoleSignInBody.parse>,
): Promise<NewConsoleSession> {
  const { consoleSessions } = accounts;
  if ("code" in body) return consoleSessions.signInWithCode(actorOf(request), body.code);
  if ("email" in body) return passwords.signIn(actorOf(request), body.email, new Secret(body.password));
  if (signOn?.settings.required === true) {
    const message = "People sign in here with a provider only (`sign_on.required`). Keys work for programs.";
    throw new Fault("forbidden", message, { code: "sign_on_required" });
  }
  // Its session would work for hours, the token for minutes.
  if (accounts.endOf(body.key) !== undefined) throw tokenAsKey();
  return consoleSessions.signIn(actorOf(request), await accounts.authenticate(body.key), sessionToken(request));
}

function tokenAsKey(): Fault {
  const message =
    "A token calls the API and makes no session of the console. Sign in with your provider, a password or an API key.";
  return new Fault("forbidden", message, { code: "token_not_accepted" });
}
