import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { CountWrongKey } from "../../http/authenticate.ts";
import { operation } from "../../http/operation.ts";
import { refuseOtherSites } from "../../http/same-origin.ts";
import { Fault } from "../../kernel/faults.ts";
import { VERSION } from "../../kernel/version.ts";
import { ConsoleSignInBody, toConsoleSession, toSignedOut } from "../../wire/openai/console-session.ts";
import { parse } from "../../wire/openai/validate.ts";
import { ConsoleSession, SignedOut } from "../../wire/openapi/service-answers.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Actor } from "../accounts/audit/audit.ts";
import type { Caller } from "../accounts/caller.ts";
import { clearSessionCookie, sessionToken, setSessionCookie } from "./session-cookie.ts";

/** POST, GET and DELETE /console/session: exchanges a key or a sign-in code for a session, describes and ends it. */
export function consoleSession(accounts: Accounts, countWrongKey: CountWrongKey): FastifyPluginAsync {
  return async (app) => {
    app.addHook("onRequest", (request, reply, done) => {
      reply.header("cache-control", "no-store");
      refuseOtherSites(request);
      done();
    });

    app.post(
      "/console/session",
      operation({
        summary: "Signs in to the console: exchanges `key`, an API key or admin key, for a session cookie.",
        tag: "Service",
        permission: "console",
        body: ConsoleSignInBody,
        answer: ConsoleSession,
      }),
      async (request, reply) => {
        const body = parse(ConsoleSignInBody, request.body);
        const { consoleSessions } = accounts;
        const countWrong = async (failure: unknown): Promise<never> => {
          if (failure instanceof Fault && failure.kind === "unauthenticated") await countWrongKey(request.ip);
          throw failure;
        };
        const session =
          "code" in body
            ? await consoleSessions.signInWithCode(actorOf(request), body.code).catch(countWrong)
            : await consoleSessions.signIn(
                actorOf(request),
                await accounts.authenticate(body.key).catch(countWrong),
                sessionToken(request),
              );
        setSessionCookie(request, reply, session);
        return describe(accounts, session.token.reveal());
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
      async (request) => describe(accounts, sessionToken(request)),
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
        const callers = await callersOf(accounts, token);
        const actor = { ...actorOf(request), keyId: (callers.admin ?? callers.project)?.keyId };
        if (token !== undefined) await accounts.consoleSessions.signOut(actor, token);
        clearSessionCookie(request, reply);
        return toSignedOut();
      },
    );
  };
}

function actorOf(request: FastifyRequest): Actor {
  return { keyId: undefined, ipAddress: request.ip, userAgent: request.headers["user-agent"] };
}

type Callers = Record<Caller["kind"], Caller | undefined>;

async function callersOf(accounts: Accounts, token: string | undefined): Promise<Callers> {
  if (token === undefined) return { admin: undefined, project: undefined };
  return {
    admin: await accounts.authenticateSession(token, "admin"),
    project: await accounts.authenticateSession(token, "project"),
  };
}

async function describe(accounts: Accounts, token: string | undefined) {
  const { admin, project } = await callersOf(accounts, token);
  const organizationId = (admin ?? project)?.organizationId;
  if (organizationId === undefined) return toConsoleSession(undefined);
  return toConsoleSession({
    version: VERSION,
    organization: await accounts.organizations.retrieve(organizationId),
    isAdmin: admin !== undefined,
    project:
      project?.projectId === undefined
        ? undefined
        : await accounts.projects.retrieve({ organizationId, id: project.projectId }),
  });
}
