/** Accounts of callers at MCP servers: how they are connected in the browser, used and disconnected. */

import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { DAY_MS, MINUTE_MS } from "../../../kernel/durations.ts";
import type { Keyring } from "../../../kernel/encryption/keyring.ts";
import { newId } from "../../../kernel/id.ts";
import type { Logger } from "../../../kernel/logger.ts";
import type { Database, Executor } from "../../../storage/database.ts";
import { type Actor, checkAuthor, recordAudit } from "../../accounts/index.ts";
import { SignOnFailure } from "../../sign-on/index.ts";
import type { McpGrantRow } from "../mcp-grant-rows.ts";
import { AuthorizationServers, type ClientAddresses } from "./authorization-servers.ts";
import { exchangeCode } from "./code-exchange.ts";
import { connectionRequired } from "./grant-faults.ts";
import { GrantFetches } from "./grant-fetch.ts";
import type { GrantOwner } from "./grant-owner.ts";
import {
  deleteGrant,
  ensureGrant,
  findGrant,
  findGrantById,
  setRequest,
  takeRequest,
  updateGrant,
} from "./grant-queries.ts";
import { expiryOf, GrantRefresh, type OpenGrant } from "./grant-refresh.ts";
import { GrantRevocations } from "./grant-revocations.ts";
import { GrantSession } from "./grant-session.ts";
import { deleteStaleGrants, reencryptGrants } from "./grant-upkeep.ts";
import { mayConnect } from "./may-connect.ts";
import type { OAuthServerSettings } from "./oauth-server.ts";
import { deleteUnused } from "./revocation-queries.ts";
import { type GrantRequest, SealedGrants } from "./sealed-grants.ts";

const REQUEST_MS = 10 * MINUTE_MS;
/** A server that is configured again by then finds its grants. */
const UNUSED_MS = DAY_MS;

export interface McpGrantsOptions {
  database: Database;
  keyring: Keyring;
  logger: Logger;
  /** Address of the console's page of a server. */
  pageOf: (server: string) => string;
}

/** State of a caller's account at a server. */
export interface GrantState {
  /** `expired`: connected once, but the tokens no longer work. */
  status: "connected" | "disconnected" | "expired";
  connectedAt: number | null;
  scopes: string | null;
  issuer: string | null;
}

/** A request for tokens, which continues in the browser. */
export interface BegunGrant {
  /** Address at the authorization server. */
  url: string;
  state: string;
  /** What the browser keeps: another browser cannot complete the request. */
  cookie: string;
}

export class McpGrants {
  readonly #options: McpGrantsOptions;
  readonly #sealed: SealedGrants;
  readonly #fetches = new GrantFetches();
  readonly #servers = new AuthorizationServers(this.#fetches);
  readonly #refresh: GrantRefresh;
  readonly #revocations: GrantRevocations;

  constructor(options: McpGrantsOptions) {
    this.#options = options;
    this.#sealed = new SealedGrants(options.keyring);
    const { database, logger } = options;
    const parts = { database, logger, sealed: this.#sealed, servers: this.#servers };
    this.#revocations = new GrantRevocations(parts);
    this.#refresh = new GrantRefresh({ ...parts, revocations: this.#revocations });
  }

  async state(settings: OAuthServerSettings, owner: GrantOwner): Promise<GrantState> {
    const row = await this.#run((executor) => findGrant(executor, owner, settings.name));
    if (row === undefined || row.state === "pending") {
      return { status: "disconnected", connectedAt: null, scopes: null, issuer: null };
    }
    const { connectedAt, scopes, issuer } = row;
    const status = this.#open(settings, row) === undefined ? "expired" : "connected";
    return { status, connectedAt, scopes, issuer };
  }

  /** Finds the authorization server of a server. Throws a Fault when one of them cannot be used. */
  async findIssuer(settings: OAuthServerSettings): Promise<string> {
    const { metadata } = await this.#servers.discover(settings);
    return metadata.issuer;
  }

  /** Begins to connect an account. Throws a Fault when the server or its authorization server cannot be used. */
  async begin(
    settings: OAuthServerSettings,
    owner: GrantOwner,
    addresses: ClientAddresses,
    author: Partial<Pick<Actor, "userId" | "keyId" | "sessionId">> = {},
  ): Promise<BegunGrant> {
    const { metadata, resource, scope: requested } = await this.#servers.discover(settings);
    const client = await this.#servers.client(settings, metadata, addresses);
    const now = Date.now();
    const id = newId("mcpg_");
    const row = await this.#run((executor) => ensureGrant(executor, owner, { id, server: settings.name, now }));
    const scope = union(requested, row.missingScopes, row.missingScopes === null ? null : row.scopes);
    const { redirectUri } = addresses;
    const oauth = await import("openid-client");
    const cookie = randomBytes(32).toString("base64url");
    const request: GrantRequest = {
      state: `${row.id}.${oauth.randomState()}`,
      cookieHash: hash("sha256", cookie),
      verifier: oauth.randomPKCECodeVerifier(),
      url: settings.url,
      issuer: metadata.issuer,
      expiresAt: now + REQUEST_MS,
      author: { userId: author.userId ?? null, keyId: author.keyId ?? null, sessionId: author.sessionId },
      ...{ redirectUri, resource, scope, client },
    };
    const sealed = this.#sealed.seal(row, "request", request);
    await this.#run((executor) => setRequest(executor, row.id, sealed));
    const isOffline = scope?.split(" ").includes("offline_access") === true;
    const url = oauth.buildAuthorizationUrl(await this.#servers.configuration(settings, metadata, client), {
      redirect_uri: redirectUri,
      state: request.state,
      code_challenge: await oauth.calculatePKCECodeChallenge(request.verifier),
      code_challenge_method: "S256",
      resource,
      ...(scope !== undefined && { scope }),
      // OpenID Connect Core, 11: without it, `offline_access` is ignored.
      ...(isOffline && { prompt: "consent" }),
    });
    return { url: url.href, state: request.state, cookie };
  }

  /** Exchanges the code of the authorization server's answer, whose parameters `query` has. Throws a SignOnFailure. */
  async complete(
    settings: OAuthServerSettings,
    { query, cookie, from }: { query: string; cookie: string | undefined; from: Omit<Actor, "keyId" | "userId"> },
  ): Promise<void> {
    const state = new URLSearchParams(query).get("state") ?? "";
    const { row, request } = await this.#take(settings, state, cookie);
    const answer = await exchangeCode(this.#servers, settings, request, query);
    const { resource, client, url, issuer, scope } = request;
    const { access_token: accessToken, refresh_token: refreshToken } = answer;
    const tokens = { accessToken, resource, client, ...(refreshToken !== undefined && { refreshToken }) };
    const change = {
      state: "connected",
      ...{ url, issuer },
      scopes: answer.scope ?? scope ?? null,
      missingScopes: null,
      tokens: this.#sealed.seal(row, "tokens", tokens),
      tokenExpiresAt: expiryOf(answer),
      connectedAt: Date.now(),
      refreshingUntil: null,
    } as const;
    const isStored = await this.#options.database.transaction(async (executor) => {
      // A refresh of the former tokens may have come in between.
      const current = await findGrantById(executor, row.id);
      if (current === undefined) return false;
      if (!(await mayConnect(executor, row, request.author))) return false;
      if (!(await updateGrant(executor, current, { ...change, version: current.version + 1 }))) return false;
      await this.#revocations.put(executor, settings, { id: row.id, issuer, tokens });
      const actor = { keyId: undefined, userId: row.userId ?? undefined, ...from };
      await this.#audit(executor, "mcp_connection.created", { ...row, ...change }, actor);
      return true;
    });
    if (isStored) return;
    await this.#revocations.revokeUnused(settings, { issuer, tokens });
    throw new SignOnFailure(
      "expired",
      "The account was disconnected or changed meanwhile, or you signed out or may no longer connect it.",
    );
  }

  /** Deletes the tokens, and revokes them where the server supports it, later if it fails. Resolves with whether it did. */
  async disconnect(settings: OAuthServerSettings, owner: GrantOwner, actor: Actor): Promise<{ isRevoked: boolean }> {
    const row = await this.#options.database.transaction(async (executor) => {
      await checkAuthor(executor, actor);
      const current = await findGrant(executor, owner, settings.name);
      if (current === undefined || !(await deleteGrant(executor, current.id))) return undefined;
      const tokens = this.#sealed.openTokens(current);
      // The server may have another address by now, at which the grant's authorization server is not to be reached.
      const connected = { ...settings, url: current.url ?? settings.url };
      if (tokens !== undefined) await this.#revocations.put(executor, connected, { ...current, tokens });
      if (current.state !== "pending") await this.#audit(executor, "mcp_connection.deleted", current, actor);
      return current;
    });
    return { isRevoked: row !== undefined && (await this.#revocations.revoke(row.id)) };
  }

  /** Opens the owner's tokens for a connection. Throws a Fault that names where to connect when there are none. */
  async session(settings: OAuthServerSettings, owner: GrantOwner | undefined): Promise<GrantSession> {
    const { name } = settings;
    const required = (reason: string) => connectionRequired(name, reason, this.#options.pageOf(name));
    const read = async () => {
      const row = owner && (await this.#run((executor) => findGrant(executor, owner, name)));
      return row && this.#open(settings, row);
    };
    const grant = await read();
    if (grant === undefined) {
      throw required(
        owner?.type === "project" ? "This project has no connected account." : "You have no connected account.",
      );
    }
    return new GrantSession(grant, {
      read,
      required,
      refresh: (current) => this.#refresh.refresh(settings, current),
      noteMissing: async ({ row }, scopes) => {
        await this.#run((executor) => updateGrant(executor, row, { missingScopes: scopes.slice(0, 2000) }));
      },
    });
  }

  /** Deletes what nobody can use, and encrypts with the current key. Resolves with the number of encrypted grants. */
  async upkeep(): Promise<number> {
    await deleteStaleGrants(this.#options.database);
    await this.#revocations.reencrypt();
    return reencryptGrants(this.#options.database, this.#sealed);
  }

  /** Revokes tokens of deleted grants, those that failed before included. Resolves with the number of attempts. */
  sweep(now?: number): Promise<number> {
    return this.#revocations.sweep(now);
  }

  /** Deletes grants whose servers are not configured for a day. Resolves with their number. */
  async deleteUnused(servers: readonly string[], now = Date.now()): Promise<number> {
    return this.#run((executor) => deleteUnused(executor, { servers, now, before: now - UNUSED_MS }));
  }

  async close(): Promise<void> {
    await this.#fetches.close();
  }

  /** Takes the request that an answer belongs to. Throws a SignOnFailure unless this browser began it. */
  async #take(settings: OAuthServerSettings, state: string, cookie: string | undefined) {
    const [id = ""] = state.split(".", 1);
    const row = await this.#run((executor) => findGrantById(executor, id));
    const request = row && this.#sealed.openRequest(row);
    const isSame =
      request !== undefined &&
      row?.server === settings.name &&
      request.url === settings.url &&
      request.expiresAt > Date.now() &&
      isEqual(request.state, state) &&
      isEqual(request.cookieHash, hash("sha256", cookie ?? ""));
    const sealed = row?.request ?? null;
    if (isSame && sealed !== null && (await this.#run((executor) => takeRequest(executor, id, sealed)))) {
      return { row, request };
    }
    throw new SignOnFailure("expired", "The answer belongs to no open request of this browser.");
  }

  /** Undefined for tokens that no longer work, or that are for another address than the server has now. */
  #open({ url }: OAuthServerSettings, row: McpGrantRow): OpenGrant | undefined {
    const tokens = row.state === "connected" && row.url === url ? this.#sealed.openTokens(row) : undefined;
    return tokens && { row, tokens };
  }

  async #audit(
    executor: Executor,
    type: "mcp_connection.created" | "mcp_connection.deleted",
    { id: resourceId, organizationId, server, userId, projectId, scopes }: McpGrantRow,
    actor: Actor,
  ): Promise<void> {
    const details = { server, scopes, ...(userId === null ? { projectId } : { userId }) };
    await recordAudit(executor, actor, { type, organizationId, resourceId, details }, Date.now());
  }

  #run<Result>(work: (executor: Executor) => Promise<Result>): Promise<Result> {
    return this.#options.database.run(work);
  }
}

function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(digest(a), digest(b));
}

/** Distinct scopes of texts that separate them by spaces. */
function union(...texts: readonly (string | null | undefined)[]): string | undefined {
  const scopes = new Set(texts.flatMap((text) => text?.split(" ").filter((each) => each !== "") ?? []));
  return scopes.size === 0 ? undefined : [...scopes].join(" ");
}
