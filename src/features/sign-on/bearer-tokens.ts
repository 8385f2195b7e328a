/** JSON Web Tokens of trusted issuers in place of API keys. */

import { hash } from "node:crypto";
import { decodeJwt, type JWTPayload } from "jose";
import { z } from "zod";
import type { Caller } from "../../contracts/caller.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { Executor } from "../../storage/database.ts";
import {
  type AccountTransactions,
  findDefaultOrganization,
  findUsersByIds,
  OPERATOR,
  resolveName,
} from "../accounts/index.ts";
import { findIdentity } from "./identity-queries.ts";
import { KeySet } from "./key-set.ts";
import type { ProviderFetch } from "./provider-fetch.ts";
import { readText, readTexts } from "./read-claim.ts";
import type { TokenIssuerSettings } from "./settings.ts";
import { SignOnFailure } from "./sign-on-failure.ts";
import { ensureSignOnKey, findUsableProjects, signedInUserHash, signOnKeyHash } from "./sign-on-key.ts";
import { verifyToken } from "./signed-token.ts";

/** Node.js accepts no larger headers. */
const MAX_TOKEN_LENGTH = 16_384;
const MAX_CACHED = 10_000;
/** A verified token is verified again after this. */
const CACHE_MS = MINUTE_MS;
/** Header and payload are JSON objects, whose base64 begins so. */
const TOKEN = /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*$/;

const discoverySchema = lazy.object(() => ({ issuer: z.string(), jwks_uri: z.url() }));

type Rule = TokenIssuerSettings["serviceAccounts"][number];

/** Whom a token stands for, and where. */
interface KeyOwner {
  owner: Parameters<typeof ensureSignOnKey>[1];
  principalId: string;
  projectId: string;
}

interface Issuer {
  settings: TokenIssuerSettings;
  keys: KeySet;
}

export interface BearerTokensOptions {
  issuers: readonly TokenIssuerSettings[];
  fetch: ProviderFetch;
  transactions: AccountTransactions;
  now?: () => number;
}

export class BearerTokens {
  readonly #issuers: ReadonlyMap<string, Issuer>;
  readonly #transactions: AccountTransactions;
  readonly #now: () => number;
  /** Claims of verified tokens, by the tokens' hashes. */
  readonly #verified = growingCache<JWTPayload>(MAX_CACHED, { ttlMs: CACHE_MS });

  constructor({ issuers, fetch, transactions, now = Date.now }: BearerTokensOptions) {
    this.#transactions = transactions;
    this.#now = now;
    this.#issuers = new Map(
      issuers.map((settings) => {
        const keys = new KeySet({ fetch, findUrl: () => findKeysUrl(settings, fetch), now });
        return [settings.issuer, { settings, keys }];
      }),
    );
  }

  /**
   * Returns the hash of the key that a token stands for on routes of this kind; undefined for what is not a token of a
   * trusted issuer. Throws a Fault for a token that does not work.
   */
  async findKeyHash(token: string, kind: Caller["kind"]): Promise<string | undefined> {
    if (token.length > MAX_TOKEN_LENGTH || !TOKEN.test(token)) return undefined;
    const issuer = this.#issuerOf(token);
    if (issuer === undefined) return undefined;
    const claims = await this.#verify(token, issuer);
    const subject = readText(claims, issuer.settings.subjectClaim);
    if (subject === undefined) throw refused(`The token has no claim \`${issuer.settings.subjectClaim}\`.`);
    const { database } = this.#transactions;
    const account = issuer.settings.serviceAccounts.find((rule) => rule.subject === subject);
    if (account !== undefined) return this.#ensureKey((executor) => this.#findServiceAccount(executor, account));
    const userId = await database.run(async (executor) => {
      const identity = await findIdentity(executor, issuer.settings.issuer, subject);
      return identity?.userId;
    });
    if (userId === undefined) throw refused("No user is linked with this token: sign in to the console once.");
    if (kind === "admin") return signedInUserHash(userId);
    return this.#ensureKey((executor) => this.#findUser(executor, userId, claims, issuer.settings));
  }

  /** When a token that has been verified ends, in epoch milliseconds; undefined for what is not a token of a trusted issuer. */
  endOf(token: string): number | undefined {
    if (token.length > MAX_TOKEN_LENGTH || !TOKEN.test(token)) return undefined;
    const issuer = this.#issuerOf(token);
    if (issuer === undefined) return undefined;
    return ((decodeJwt(token).exp ?? 0) + issuer.settings.clockToleranceSeconds) * 1000;
  }

  #issuerOf(token: string): Issuer | undefined {
    try {
      return this.#issuers.get(decodeJwt(token).iss ?? "");
    } catch {
      return undefined;
    }
  }

  async #verify(token: string, { settings, keys }: Issuer): Promise<JWTPayload> {
    const digest = hash("sha256", token);
    const now = this.#now();
    const { issuer, audiences, clockToleranceSeconds } = settings;
    const cached = this.#verified.get(digest);
    if (cached !== undefined && ((cached.exp ?? 0) + clockToleranceSeconds) * 1000 > now) return cached;
    const claims = await verifyToken(token, keys, {
      issuer,
      audience: [...audiences],
      requiredClaims: ["exp"],
      clockToleranceSeconds,
      now,
    }).catch((failure: unknown) => {
      throw toFault(failure);
    });
    checkScopes(claims, settings.scopes);
    this.#verified.set(digest, claims);
    return claims;
  }

  async #findServiceAccount(executor: Executor, rule: Rule): Promise<KeyOwner> {
    const organizationId = (await findDefaultOrganization(executor))?.id ?? "";
    const now = this.#now();
    const reference = { organizationId, scopeId: organizationId, kind: "project", text: rule.project } as const;
    const project = await resolveName(executor, reference, now);
    if (project.problem !== undefined) throw missing(rule, project.problem);
    const { id: projectId } = project;
    const ofProject = { organizationId, scopeId: projectId, kind: "service account" } as const;
    const account = await resolveName(executor, { ...ofProject, text: rule.serviceAccount }, now);
    if (account.problem !== undefined) throw missing(rule, account.problem);
    const { id: serviceAccountId } = account;
    return { owner: { organizationId, serviceAccountId }, principalId: serviceAccountId, projectId };
  }

  async #findUser(
    executor: Executor,
    userId: string,
    claims: JWTPayload,
    { projectClaim, project: configured }: TokenIssuerSettings,
  ): Promise<KeyOwner> {
    const name = projectClaim === undefined ? configured : readText(claims, projectClaim);
    const [user] = await findUsersByIds(executor, [userId]);
    const projects = user === undefined || user.disabledAt !== null ? [] : await findUsableProjects(executor, user);
    if (user === undefined || projects.length === 0) throw forbidden("The user of this token has no project.");
    const { organizationId } = user;
    const reference = { organizationId, scopeId: organizationId, kind: "project" } as const;
    const resolved =
      name === undefined ? undefined : await resolveName(executor, { ...reference, text: name }, this.#now());
    if (resolved?.problem !== undefined) throw forbidden(`The project of this token is unclear. ${resolved.problem}`);
    const choices = resolved === undefined ? projects : projects.filter(({ id }) => id === resolved.id);
    return { owner: { organizationId, userId }, principalId: userId, projectId: onlyProject(choices, name).id };
  }

  /** Finds the owner again in the transaction that creates the key: the owner may have ended since. */
  async #ensureKey(find: (executor: Executor) => Promise<KeyOwner>): Promise<string> {
    const { keyHash, exists } = await this.#transactions.database.run(async (executor) => {
      const { principalId, projectId } = await find(executor);
      const hashOfKey = signOnKeyHash(principalId, projectId);
      const key = await executor
        .selectFrom("apiKeys")
        .select("id")
        .where("keyHash", "=", hashOfKey)
        .where("revokedAt", "is", null)
        .executeTakeFirst();
      return { keyHash: hashOfKey, exists: key !== undefined };
    });
    if (exists) return keyHash;
    return this.#transactions.run(OPERATOR, async (transaction) => {
      const { owner, principalId, projectId } = await find(transaction.executor);
      await ensureSignOnKey(transaction, owner, projectId);
      return signOnKeyHash(principalId, projectId);
    });
  }
}

/** Address of an issuer's keys: the configured one, or that of its discovery document. */
async function findKeysUrl({ issuer, jwksUrl }: TokenIssuerSettings, fetch: ProviderFetch): Promise<string> {
  if (jwksUrl !== undefined) return jwksUrl;
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(url, { method: "GET", signal: AbortSignal.timeout(5_000) });
  const document = discoverySchema.safeParse(answer.status === 200 ? await answer.json() : undefined);
  if (document.success && document.data.issuer === issuer) return document.data.jwks_uri;
  throw new SignOnFailure("provider-unavailable", `The discovery document at ${url} is not one of this issuer.`);
}

function checkScopes(claims: JWTPayload, required: readonly string[]): void {
  const texts = [...(readTexts(claims, "scope") ?? []), ...(readTexts(claims, "scp") ?? [])];
  const scopes = new Set(texts.flatMap((text) => text.split(" ")));
  const missing = required.filter((scope) => !scopes.has(scope));
  if (missing.length > 0) throw forbidden(`The token lacks the scope \`${missing.join(" ")}\`.`);
}

function toFault(failure: unknown): unknown {
  if (!(failure instanceof SignOnFailure)) return failure;
  const { reason, message } = failure;
  if (reason === "provider-unavailable") {
    const text = `The token cannot be checked now. ${message}`;
    return new Fault("unavailable", text, { code: "provider_unavailable", retryAfterSeconds: 10, cause: failure });
  }
  // An expired token is no guess, which the limit of wrong keys would count.
  const code = reason === "clock" ? "token_expired" : "invalid_api_key";
  return new Fault("unauthenticated", message, { code, cause: failure });
}

function missing({ project, serviceAccount }: Rule, problem: string): Fault {
  return refused(
    `The service account \`${serviceAccount}\` of this token does not exist in \`${project}\`. ${problem}`,
  );
}

function refused(message: string): Fault {
  return new Fault("unauthenticated", message, { code: "invalid_api_key" });
}

function forbidden(message: string): Fault {
  return new Fault("forbidden", message, { code: "insufficient_permissions" });
}

function onlyProject<Project>(projects: readonly Project[], name: string | undefined): Project {
  const [project] = projects;
  if (project === undefined) throw forbidden(`The user of this token may not call models in \`${name}\`.`);
  if (projects.length > 1) {
    throw forbidden("The user of this token has several projects: set `project` or `project_claim` of the issuer.");
  }
  return project;
}
