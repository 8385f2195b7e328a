/** Authenticates every route of a scope, so a new route is protected by default. */

import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../contracts/caller.ts";
import { Fault } from "../kernel/faults.ts";
import type { Secret } from "../kernel/secret.ts";
import { allows, mayCall, requirementOf } from "./access.ts";
import { type BodyMemory, boundBodyMemory } from "./body-memory.ts";
import { refuseOtherSites } from "./same-origin.ts";
import { sentKey, textOfHeader } from "./sent-key.ts";
import { sessionToken } from "./session-cookie.ts";

/** IDs of the organization and project as the client sent them. */
export interface ScopeHeaders {
  organization: string | undefined;
  project: string | undefined;
}

export interface Authenticator {
  /**
   * `kind`: of the routes, for tokens, which do not say it themselves. Throws a Fault for a key that is missing, malformed,
   * unknown, revoked or expired.
   */
  authenticate(key: string | undefined, kind?: Caller["kind"]): Promise<Caller>;
  /** Authenticates synchronously a valid key in the cache; returns undefined for any other key. */
  authenticateKnown(key: string | undefined): Caller | undefined;
  /** Records from where a caller's key is used. */
  noteClient(caller: Caller, client: { address: string; client: string | undefined }): void;
  /** Returns the caller of a console session on routes of this kind; undefined when it has none. */
  authenticateSession(token: string, kind: Caller["kind"]): Promise<Caller | undefined>;
  /** Returns the caller as it is now, which is no use of its key; undefined once its key or session has ended. */
  currentCaller(caller: Caller): Promise<Caller | undefined>;
  /** When a key ends by itself, as a token says, in epoch milliseconds; undefined for others. */
  endOf(key: string | undefined): number | undefined;
  /**
   * Returns the caller, the operator in the organization that the client names. Throws a Fault when others name another
   * organization or project than the key's.
   */
  applyScopeHeaders(caller: Caller, headers: ScopeHeaders): Promise<Caller>;
}

/** Whom a scope admits. */
export type ScopeKind = Caller["kind"] | "operator";

/** Counts a wrong key from an address. Throws a Fault when the address has sent too many. */
export type CountWrongKey = (address: string) => Promise<void>;

declare module "fastify" {
  interface FastifyRequest {
    /** Caller of the request; set in every authenticated scope. */
    caller: Caller;
    /** Set by a hook for a request that the service makes itself. */
    internalCall: InternalCall | undefined;
    /** How the scope authenticates; undefined without keys, and for a request that the service makes itself. */
    authentication: Authentication | undefined;
  }
}

type Authentication = (request: FastifyRequest, reply: FastifyReply, done: (failure?: Error) => void) => void;

/** A request that the service makes for a caller, without a key. */
export interface InternalCall {
  caller: Caller;
  /** Ends the request. */
  signal: AbortSignal;
}

interface AuthenticationRules {
  countWrongKey: CountWrongKey;
  /** Whether headers that name another organization or project than the key's are ignored, rather than refused. */
  ignoresMismatchedIds: boolean;
  /** Counts the bodies of all scopes. */
  bodyMemory: BodyMemory;
}

/** Authenticates every route of a scope; `authenticator` replaces that of the accounts. */
export type AuthenticateScope = (scope: FastifyInstance, kind: ScopeKind, authenticator?: Authenticator) => void;

/**
 * Authenticates before the body is read, so the bodies of requests without a key are never read, and again once it is
 * there. A request without a key may have the cookie of a console session.
 */
export function authenticateScope(
  scope: FastifyInstance,
  accounts: Authenticator,
  kind: ScopeKind,
  { countWrongKey, ignoresMismatchedIds, bodyMemory }: AuthenticationRules,
): void {
  scope.decorate("authenticates", kind);
  const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller) => {
    request.caller = caller;
    reply.header("openai-organization", caller.organizationId);
    if (!admits(kind, caller) && !allowsProjectKeys(request)) throw wrongKind(kind);
    if (caller.access !== undefined) checkAccess(request, caller);
    accounts.noteClient(caller, { address: request.ip, client: request.headers["user-agent"] });
  };
  const applyHeaders = async (request: FastifyRequest, reply: FastifyReply) => {
    const { headers, caller } = request;
    const acting = await accounts.applyScopeHeaders(caller, {
      organization: textOfHeader(headers["openai-organization"]),
      project: textOfHeader(headers["openai-project"]),
    });
    if (acting !== caller) admit(request, reply, acting);
  };
  const prove = async (request: FastifyRequest, reply: FastifyReply, key: string | undefined) => {
    const token = key === undefined ? sessionToken(request) : undefined;
    const caller =
      token === undefined
        ? await authenticateKey(request, key, accounts, countWrongKey, kind === "project" ? "project" : "admin")
        : await authenticateSession(request, token, accounts, kind);
    admit(request, reply, caller);
    if (kind === "operator" || (ignoresMismatchedIds && !caller.isOperator)) return;
    await applyHeaders(request, reply);
  };
  const authenticate: Authentication = (request, reply, done) => {
    const { headers } = request;
    const key = sentKey(headers);
    const namesScope = headers["openai-organization"] || headers["openai-project"];
    const cached = namesScope ? undefined : accounts.authenticateKnown(key);
    if (cached === undefined) {
      prove(request, reply, key).then(() => done(), done);
      return;
    }
    // A change of accounts makes another caller.
    if (cached !== request.caller) admit(request, reply, cached);
    done();
  };
  scope.addHook("onRequest", (request, reply, done) => {
    const { internalCall } = request;
    if (internalCall === undefined) {
      // The same function for all: V8 gives each request that has one of its own, in place of the prototype's, a hidden
      // class, which keeps the request alive until the next full collection.
      request.authentication = authenticate;
      return authenticate(request, reply, done);
    }
    admit(request, reply, internalCall.caller);
    internalCall.signal.addEventListener("abort", () => reply.raw.destroy(), { once: true });
    done();
  });
  // A client can take minutes to send the body, in which its key may end or lose permissions. Handlers that read it
  // themselves call `authenticateAgain`.
  scope.addHook("preValidation", (request, reply, done) => {
    if (request.internalCall !== undefined || request.body === undefined) return done();
    authenticate(request, reply, done);
  });
  boundBodyMemory(scope, bodyMemory);
}

/** Authenticates a request again, once its handler has read the body itself. Throws a Fault. */
export function authenticateAgain(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (failure?: Error) => (failure === undefined ? resolve() : reject(failure));
    if (request.authentication === undefined) finish();
    else request.authentication(request, reply, finish);
  });
}

function admits(kind: ScopeKind, caller: Caller): boolean {
  return kind === "operator" ? caller.isOperator === true : caller.kind === kind;
}

/** Throws a Fault when the user's roles do not allow the operation, in the project of its path or of the key. */
export function checkAccess({ routeOptions, params }: FastifyRequest, caller: Caller): void {
  const { operation } = routeOptions.config;
  const path = (params ?? {}) as { project?: string; user?: string };
  if (mayCall(caller, operation, path)) return;
  const project = path.project ?? caller.projectId;
  const requirement = operation && requirementOf(operation);
  const needed = [requirement === "no-user" ? [] : (requirement ?? [])].flat().map((permission) => `\`${permission}\``);
  const place = project === undefined ? "the organization" : `the project \`${project.slice(0, 100)}\``;
  const message =
    needed.length === 0
      ? "This needs a key that belongs to no user and has no list of permissions."
      : `This needs the permission ${needed.join(" or ")} in ${place}. Ask an owner for a role that has it.`;
  throw new Fault("forbidden", message, { code: "insufficient_permissions" });
}

function allowsProjectKeys({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.operation?.permission === "admin-or-project";
}

/**
 * True for a request with an admin key that may read the organization's models; false for one with another key, without a
 * key, or while keys cannot be checked. Throws a Fault for a wrong key.
 */
export async function mayReadModels(
  request: FastifyRequest,
  accounts: Pick<Authenticator, "authenticate">,
  countWrongKey: CountWrongKey,
): Promise<boolean> {
  const key = sentKey(request.headers);
  if (key === undefined) return false;
  try {
    const { kind, access } = await authenticateKey(request, key, accounts, countWrongKey);
    return kind === "admin" && allows(access, "organization.read");
  } catch (failure) {
    if (failure instanceof Fault && failure.kind === "unavailable") return false;
    throw failure;
  }
}

/** Throws a Fault unless the request sends exactly this key. */
export async function requireKey(request: FastifyRequest, required: Secret, countWrongKey: CountWrongKey) {
  const key = sentKey(request.headers);
  const digest = (text: string) => hash("sha256", text, "buffer");
  if (key !== undefined && timingSafeEqual(digest(key), digest(required.reveal()))) return;
  if (key !== undefined) await countWrongKey(request.ip);
  throw new Fault("unauthenticated", "This path requires its key in the header `Authorization: Bearer KEY`.", {
    code: "invalid_api_key",
  });
}

async function authenticateKey(
  request: FastifyRequest,
  key: string | undefined,
  accounts: Pick<Authenticator, "authenticate">,
  countWrongKey: CountWrongKey,
  kind?: Caller["kind"],
): Promise<Caller> {
  return accounts.authenticate(key, kind).catch(async (failure: unknown) => {
    if (isWrongKey(failure)) await countWrongKey(request.ip);
    throw failure;
  });
}

/** Resolves with the caller of a console session, of the kind that the routes need if the session has one. */
async function authenticateSession(
  request: FastifyRequest,
  token: string,
  accounts: Pick<Authenticator, "authenticateSession">,
  kind: ScopeKind,
): Promise<Caller> {
  refuseOtherSites(request);
  const kinds = kind === "project" ? (["project", "admin"] as const) : (["admin", "project"] as const);
  for (const each of kinds) {
    const caller = await accounts.authenticateSession(token, each);
    if (caller !== undefined) return caller;
  }
  throw sessionEnded();
}

export function sessionEnded(): Fault {
  return new Fault("unauthenticated", "Your console session has ended. Sign in again.", { code: "session_ended" });
}

/** Whether a key was sent and is wrong; a missing key is not a guess. */
function isWrongKey(failure: unknown): boolean {
  return failure instanceof Fault && failure.kind === "unauthenticated" && failure.code === "invalid_api_key";
}

function wrongKind(needed: ScopeKind): Fault {
  if (needed === "operator") {
    const message =
      "Only the operator manages organizations: run `parlance organizations` on the machine of the service.";
    return new Fault("forbidden", message);
  }
  return needed === "project"
    ? new Fault("unauthenticated", "An admin key cannot call models; use a project's API key.", {
        code: "invalid_api_key",
      })
    : new Fault("forbidden", "This needs an admin key; a project's API key cannot administer.");
}
