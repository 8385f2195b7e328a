import { loadProviderFailure } from "../../sign-on/index.ts";
/** Refreshes the tokens of grants: one process at once for each, because refresh tokens may work only once. */

import type * as oauth from "openid-client";
import { until } from "../../../kernel/async/retry.ts";
import type { Database } from "../../../storage/database.ts";
import type { McpGrantRow } from "../mcp-grant-rows.ts";
import type { AuthorizationServers } from "./authorization-servers.ts";
import { refreshFailed } from "./grant-faults.ts";
import { claimRefresh, findGrantById, updateGrant } from "./grant-queries.ts";
import type { GrantRevocations } from "./grant-revocations.ts";
import type { OAuthServerSettings } from "./oauth-server.ts";
import type { GrantTokens, SealedGrants } from "./sealed-grants.ts";

/** Longer than a refresh takes, with its timeouts. */
const CLAIM_MS = 90_000;
const POLL_MS = 100;
/** Answers by which an authorization server says that only the person can help (RFC 6749, 5.2). */
const FINAL_ERRORS: ReadonlySet<string> = new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);

export interface GrantRefreshOptions {
  database: Database;
  sealed: SealedGrants;
  servers: AuthorizationServers;
  revocations: GrantRevocations;
}

/** A grant whose tokens can be used. */
export interface OpenGrant {
  row: McpGrantRow;
  tokens: GrantTokens;
}

export class GrantRefresh {
  readonly #options: GrantRefreshOptions;
  /** By the ID of the grant. */
  readonly #running = new Map<string, Promise<OpenGrant | undefined>>();

  constructor(options: GrantRefreshOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the grant and its next tokens; undefined when the person has to connect again. Throws a Fault when the
   * authorization server cannot be asked now.
   */
  async refresh(settings: OAuthServerSettings, grant: OpenGrant): Promise<OpenGrant | undefined> {
    const { id } = grant.row;
    const running = this.#running.get(id) ?? this.#refresh(settings, grant).finally(() => this.#running.delete(id));
    this.#running.set(id, running);
    return running;
  }

  async #refresh(settings: OAuthServerSettings, { row, tokens }: OpenGrant): Promise<OpenGrant | undefined> {
    const { database, servers } = this.#options;
    if (tokens.refreshToken === undefined || row.issuer === null) return this.#end(row);
    if (!(await claimRefresh(database, row, CLAIM_MS))) return this.#awaitOther(row);
    const oauth = await import("openid-client");
    let answer: oauth.TokenEndpointResponse;
    try {
      const configuration = await servers.configuration(
        settings,
        await servers.metadata(settings, row.issuer),
        tokens.client,
      );
      answer = await oauth.refreshTokenGrant(configuration, tokens.refreshToken, { resource: tokens.resource });
    } catch (failure) {
      const isFinal = failure instanceof oauth.ResponseBodyError && FINAL_ERRORS.has(failure.error);
      if (isFinal) return this.#end(row);
      await database.run((executor) => updateGrant(executor, row, { refreshingUntil: null }));
      const { toProviderFailure } = await loadProviderFailure();
      const { message } = toProviderFailure(failure, "its authorization server");
      throw refreshFailed(message, failure);
    }
    return this.#store(settings, { row, tokens }, answer);
  }

  async #store(settings: OAuthServerSettings, { row, tokens }: OpenGrant, answer: oauth.TokenEndpointResponse) {
    const { database, sealed, revocations } = this.#options;
    const next: GrantTokens = {
      ...tokens,
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token ?? tokens.refreshToken,
    };
    const change = {
      tokens: sealed.seal(row, "tokens", next),
      tokenExpiresAt: expiryOf(answer),
      scopes: answer.scope ?? row.scopes,
      version: row.version + 1,
      refreshingUntil: null,
    };
    const isStored = await database.transaction(async (executor) => {
      if (!(await updateGrant(executor, row, change))) return false;
      await revocations.put(executor, settings, { ...row, tokens: next });
      return true;
    });
    if (isStored) return { row: { ...row, ...change }, tokens: next };
    // The owner disconnected meanwhile.
    await revocations.revokeUnused(settings, { issuer: row.issuer, tokens: next });
    return undefined;
  }

  async #end(row: McpGrantRow): Promise<undefined> {
    const ended = { state: "expired", tokens: null, tokenExpiresAt: null } as const;
    const change = { ...ended, version: row.version + 1, refreshingUntil: null };
    await this.#options.database.run((executor) => updateGrant(executor, row, change));
  }

  /** Another process refreshes with the same token. */
  async #awaitOther({ id, version }: McpGrantRow): Promise<OpenGrant | undefined> {
    const { database, sealed } = this.#options;
    const ended = await until(
      async () => {
        const row = await database.run((executor) => findGrantById(executor, id));
        return (row?.version !== version || row.refreshingUntil === null) && { row };
      },
      { everyMs: POLL_MS, timeoutMs: CLAIM_MS },
    );
    const tokens = ended?.row && sealed.openTokens(ended.row);
    return ended?.row === undefined || tokens === undefined ? undefined : { row: ended.row, tokens };
  }
}

/** Epoch milliseconds; null: unknown. */
export function expiryOf({ expires_in: seconds }: oauth.TokenEndpointResponse): number | null {
  return seconds === undefined ? null : Date.now() + seconds * 1000;
}
