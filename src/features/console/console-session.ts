import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../http/operation.ts";
import { refuseOtherSites } from "../../http/same-origin.ts";
import { Fault } from "../../kernel/faults.ts";
import { Secret } from "../../kernel/secret.ts";
import {
  ConsoleFirstOwnerBody,
  ConsolePasswordBody,
  ConsoleProjectBody,
  ConsoleSignInBody,
  toSignedOut,
} from "../../wire/openai/console-session.ts";
import { parse } from "../../wire/openai/validate.ts";
import { ConsoleSession, SignedOut } from "../../wire/openapi/service-answers.ts";
import type { Actor } from "../accounts/audit/audit.ts";
import { isOperatorSession } from "../sign-on/operator-session.ts";
import { consoleUrl } from "../sign-on/sign-on-routes.ts";
import type { UserSessionRow } from "../sign-on/sign-on-rows.ts";
import type { NewConsoleSession } from "./console-sessions.ts";
import { type ConsoleSessionParts, callersOf, describeSession } from "./describe-session.ts";
import { clearSessionCookie, sessionToken, setSessionCookie } from "./session-cookie.ts";

/** /console/session: exchanges a key, code or password for a session, describes, changes and ends it. */
export function consoleSession(parts: ConsoleSessionParts): FastifyPluginAsync {
  const { accounts, passwords, signOn, countWrongKey } = parts;
  const countWrong = (request: FastifyRequest) => async (failure: unknown) => {
    if (failure instanceof Fault && failure.kind === "unauthenticated") await countWrongKey(request.ip);
    throw failure;
  };
  return async (app) => {
    app.addHook("onRequest", (request, reply, done) => {
      reply.header("cache-control", "no-store");
      refuseOtherSites(request);
      done();
    });

    app.post(
      "/console/session",
      operation({
        summary:
          "Signs in to the console: exchanges `key`, an API key or admin key, or a user's `email` and `password`, for a session cookie.",
        tag: "Service",
        permission: "console",
        body: ConsoleSignInBody,
        answer: ConsoleSession,
      }),
      async (request, reply) => {
        const body = parse(ConsoleSignInBody, request.body);
        const session = await signIn(parts, request, body).catch(countWrong(request));
        setSessionCookie(request, reply, session);
        return describeSession(parts, session.token.reveal());
      },
    );

    app.get(
      "/console/session",
      operation({
        summary: "Describes the session of the cookie.",
        tag: "Service",
        permission: "console",
        answer: ConsoleSession,
      }),
      async (request) => describeSession(parts, sessionToken(request)),
    );

    app.post(
      "/console/session/project",
      operation({
        summary: "Chooses the project in which the session of a user calls models.",
        tag: "Service",
        permission: "console",
        body: ConsoleProjectBody,
        answer: ConsoleSession,
      }),
      async (request) => {
        const { project } = parse(ConsoleProjectBody, request.body);
        const session = await requireUserSession(parts, request);
        await accounts.userSessions.chooseProject({ ...actorOf(request), userId: session.userId }, session, project);
        return describeSession(parts, sessionToken(request));
      },
    );

    app.post(
      "/console/password",
      operation({
        summary: "Sets a user's password, with the token of a link or the current password, and signs in with it.",
        tag: "Service",
        permission: "console",
        body: ConsolePasswordBody,
        answer: ConsoleSession,
      }),
      async (request, reply) => {
        const body = parse(ConsolePasswordBody, request.body);
        const password = new Secret(body.password);
        const setting =
          "token" in body
            ? passwords.setByLink(actorOf(request), body.token, password)
            : requireUserSession(parts, request).then((session) =>
                passwords.change(actorOf(request), session, new Secret(body.current_password), password),
              );
        const session = await setting.catch(countWrong(request));
        setSessionCookie(request, reply, session);
        return describeSession(parts, session.token.reveal());
      },
    );

    app.post(
      "/console/first_owner",
      operation({
        summary: "Makes the operator, signed in with a link, the first owner of the organization, with a password.",
        tag: "Service",
        permission: "console",
        body: ConsoleFirstOwnerBody,
        answer: ConsoleSession,
      }),
      async (request, reply) => {
        const { email, name, password } = parse(ConsoleFirstOwnerBody, request.body);
        if (!(await isOperatorSession(accounts, sessionToken(request)))) {
          throw new Fault(
            "forbidden",
            "Only the operator, signed in with an admin key or link, makes the first owner.",
          );
        }
        const owner = { email, name, password: new Secret(password) };
        const session = await passwords.addFirstOwner(actorOf(request), owner);
        setSessionCookie(request, reply, session);
        return describeSession(parts, session.token.reveal());
      },
    );

    app.delete(
      "/console/session",
      operation({
        summary: "Ends the session of the cookie.",
        tag: "Service",
        permission: "console",
        answer: SignedOut,
      }),
      async (request, reply) => {
        const token = sessionToken(request);
        const session = token === undefined ? undefined : await accounts.userSessions.find(token);
        clearSessionCookie(request, reply);
        if (session !== undefined) {
          const url = signOn?.endSessionUrl(session, `${consoleUrl(request, signOn.settings.publicUrl)}/`);
          await accounts.userSessions.end({ ...actorOf(request), userId: session.userId }, session, "signed out");
          return toSignedOut(url);
        }
        const callers = await callersOf(accounts, token);
        const actor = { ...actorOf(request), keyId: (callers.admin ?? callers.project)?.keyId };
        if (token !== undefined) await accounts.consoleSessions.signOut(actor, token);
        return toSignedOut(undefined);
      },
    );
  };
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
  const caller = await accounts.authenticate(body.key);
  return consoleSessions.signIn(actorOf(request), caller, sessionToken(request));
}

async function requireUserSession({ accounts }: ConsoleSessionParts, request: FastifyRequest): Promise<UserSessionRow> {
  const token = sessionToken(request);
  const caller = token === undefined ? undefined : await accounts.authenticateSession(token, "admin");
  const session = token === undefined || caller === undefined ? undefined : await accounts.userSessions.find(token);
  if (session !== undefined) return session;
  throw new Fault("unauthenticated", "This needs the session of a user. Sign in again.", { code: "session_ended" });
}

function actorOf(request: FastifyRequest): Actor {
  return { keyId: undefined, ipAddress: request.ip, userAgent: request.headers["user-agent"] };
}
