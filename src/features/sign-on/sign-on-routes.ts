import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Caller } from "../../contracts/caller.ts";
import type { CountWrongKey } from "../../http/authenticate.ts";
import { operation, routes } from "../../http/operation.ts";
import { setSessionCookie } from "../../http/session-cookie.ts";
import { Fault } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Actor } from "../accounts/index.ts";
import type { Provider } from "./provider.ts";
import type { SignOn } from "./sign-on.ts";
import { SignOnFailure } from "./sign-on-failure.ts";
import { type FailureText, sendContinuation, sendFailure } from "./sign-on-pages.ts";
import { clearTransactionCookie, setTransactionCookie, transactionCookie } from "./transaction-cookie.ts";

export interface SignOnRouteParts {
  signOn: SignOn;
  logger: Logger;
  countWrongKey: CountWrongKey;
  /** Finds the caller of the session of the operator's link, which makes the first owner. */
  findOperator: (request: FastifyRequest) => Promise<Caller | undefined>;
}

interface OfProvider {
  Params: { provider: string };
}

const beginQuery = lazy.object(() => ({
  /** Page of the console. */
  return_to: z
    .string()
    .regex(/^\/[\w\-./?=&%]{0,500}$/)
    .catch("/"),
  invite: z.string().max(500).optional().catch(undefined),
  first_owner: z.string().optional(),
}));

const logoutBody = lazy.object(() => ({ logout_token: z.string().min(1).max(16_384) }));

/** Address of the console in browsers. */
export function consoleUrl(request: FastifyRequest, publicUrl: string | undefined): string {
  return publicUrl ?? `${request.protocol}://${request.host}`;
}

/** GET /sign-on/:provider/start and /callback, which browsers open */
export function signOnPages(parts: SignOnRouteParts): FastifyPluginAsync {
  const { signOn, logger, findOperator } = parts;
  const signInUrl = (request: FastifyRequest) => `${consoleUrl(request, signOn.settings.publicUrl)}/#/sign-in`;
  return routes(
    (app) =>
      app.setErrorHandler(async (error, request, reply) => {
        logFailure(logger, request, error, "a sign-in failed");
        return sendFailure(reply, textOf(error), { url: signInUrl(request), text: "Go to the sign-in page" });
      }),
    operation(
      "GET /sign-on/:provider/start",
      {
        summary: "Begins a sign-in: redirects the browser to an OpenID Connect provider.",
        tag: "Service",
        permission: "public",
        content: ["text/html"],
      },
      async ({ request, reply }) => {
        const provider = requireProvider(signOn, request);
        const { return_to: returnTo, invite, first_owner: owner } = beginQuery.parse(request.query);
        const redirectUri = `${consoleUrl(request, signOn.settings.publicUrl)}/sign-on/${provider.id}/callback`;
        const operator = owner === undefined ? undefined : await findOperator(request);
        const begun = {
          redirectUri,
          returnTo,
          ...(invite !== undefined && { invite }),
          ...(operator && { operator: { keyId: operator.keyId, sessionId: operator.sessionId } }),
        };
        const { url, transaction, sealed } = await signOn.begin(provider, begun);
        setTransactionCookie(request, reply, transaction.state, sealed);
        return reply.header("cache-control", "no-store").header("referrer-policy", "no-referrer").redirect(url, 302);
      },
    ),
    operation(
      "GET /sign-on/:provider/callback",
      {
        grants: "credential",
        summary: "Completes a sign-in with the provider's answer, and continues to the console.",
        tag: "Service",
        permission: "public",
        content: ["text/html"],
      },
      async ({ request, reply }) => {
        const provider = requireProvider(signOn, request);
        const query = request.url.split("?", 2)[1] ?? "";
        const state = new URLSearchParams(query).get("state") ?? "";
        const transaction = signOn.resume(provider, transactionCookie(request, state), state);
        clearTransactionCookie(request, reply, state);
        const session = await signOn.complete(actorOf(request), provider, transaction, query);
        setSessionCookie(request, reply, session);
        return sendContinuation(reply, `${consoleUrl(request, signOn.settings.publicUrl)}/#${transaction.returnTo}`);
      },
    ),
  );
}

/** POST /sign-on/:provider/backchannel-logout, which providers call */
export function backchannelLogout({ signOn, logger, countWrongKey }: SignOnRouteParts): FastifyPluginAsync {
  return routes(
    (app) =>
      app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) => {
        done(null, Object.fromEntries(new URLSearchParams(String(body))));
      }),
    operation(
      "POST /sign-on/:provider/backchannel-logout",
      {
        summary: "Ends the sessions that a provider's logout token names (OpenID Connect Back-Channel Logout).",
        tag: "Service",
        permission: "public",
        content: ["text/plain"],
      },
      async ({ request, reply }) => {
        reply.header("cache-control", "no-store");
        const body = logoutBody.safeParse(request.body);
        try {
          if (!body.success) throw new SignOnFailure("bad-token", "The request has no `logout_token`.");
          const provider = requireProvider(signOn, request);
          const ended = await signOn.logOut(actorOf(request), provider, body.data.logout_token);
          logger.info({ provider: provider.id, sessions: ended }, "a provider ended sessions");
          return reply.code(200).send();
        } catch (failure) {
          if (!(failure instanceof SignOnFailure)) throw failure;
          await countWrongKey(request.ip);
          logFailure(logger, request, failure, "refused a logout token");
          // Of RFC 6749, as the specification of back-channel logout requires.
          return reply.code(400).send({ error: "invalid_request", error_description: failure.message });
        }
      },
    ),
  );
}

function requireProvider(signOn: SignOn, { params }: FastifyRequest<OfProvider>): Provider {
  const provider = signOn.provider(params.provider);
  if (provider === undefined) {
    throw new SignOnFailure("expired", `The service has no provider \`${params.provider}\` (any more).`);
  }
  return provider;
}

function actorOf(request: FastifyRequest): Actor {
  return { keyId: undefined, ipAddress: request.ip, userAgent: request.headers["user-agent"] };
}

export function logFailure(logger: Logger, { id: requestId }: FastifyRequest, failure: unknown, message: string): void {
  const isExpected = failure instanceof SignOnFailure || failure instanceof Fault;
  if (!isExpected) {
    logger.error({ requestId, err: failure }, message);
    return;
  }
  const reason = failure instanceof SignOnFailure ? failure.reason : failure.kind;
  logger.warn({ requestId, reason, error: failure.message, cause: describeCause(failure) }, message);
}

/** Messages of the errors behind a failure. */
function describeCause({ cause }: Error): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const inner = describeCause(cause);
  return inner === undefined ? cause.message : `${cause.message}: ${inner}`;
}

function textOf(error: unknown): FailureText {
  if (error instanceof SignOnFailure) return { ...error.page, message: error.message };
  const remedy = "Try again in a moment. If it happens again, tell your administrator the request ID below.";
  if (error instanceof Fault) {
    const status = error.kind === "request-rate-limited" ? 429 : 503;
    return { status, title: "The service cannot sign you in now", message: error.message, remedy };
  }
  const message = "Something went wrong in this service, and nobody was signed in.";
  return { status: 500, title: "The service cannot sign you in", message, remedy };
}
