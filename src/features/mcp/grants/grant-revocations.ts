/** Revokes tokens of grants that were deleted: by their owners, with a person or project, or with their server. */

import { backoffDelay } from "../../../kernel/async/backoff.ts";
import { HOUR_MS, MINUTE_MS } from "../../../kernel/durations.ts";
import { newId } from "../../../kernel/id.ts";
import type { Logger } from "../../../kernel/logger.ts";
import type { Database, Executor } from "../../../storage/database.ts";
import type { McpRevocationRow } from "../mcp-grant-rows.ts";
import type { AuthorizationServers } from "./authorization-servers.ts";
import { revokeTokens } from "./grant-revocation.ts";
import type { OAuthServerSettings } from "./oauth-server.ts";
import {
  claimRevocation,
  deleteRevocation,
  findRevocation,
  listDueRevocations,
  listRevocationsAfter,
  putRevocation,
  replaceRevocation,
} from "./revocation-queries.ts";
import type { GrantTokens, SealedGrants } from "./sealed-grants.ts";

/** The last one comes about a day after the first. */
const MAX_ATTEMPTS = 10;
const RETRY = { initial: MINUTE_MS, max: 6 * HOUR_MS };
const ROWS = 50;

export interface GrantRevocationsOptions {
  database: Database;
  sealed: SealedGrants;
  servers: AuthorizationServers;
  logger: Logger;
}

export class GrantRevocations {
  readonly #options: GrantRevocationsOptions;

  constructor(options: GrantRevocationsOptions) {
    this.#options = options;
  }

  /** Stores what revokes tokens, apart from their grant: no deletion of that loses it. */
  async put(
    executor: Executor,
    { name, url, oauth }: OAuthServerSettings,
    grant: { id: string; issuer: string | null; tokens: GrantTokens },
  ): Promise<void> {
    const { id, issuer, tokens } = grant;
    const server = { name, url, ...(oauth.issuer !== undefined && { issuer: oauth.issuer }) };
    const content = { server, issuer: issuer ?? "", tokens };
    await putRevocation(executor, id, this.#options.sealed.sealRevocation(id, content));
  }

  /** Revokes the tokens of a deleted grant; a failed attempt is repeated later. Resolves with whether it succeeded. */
  async revoke(grantId: string, now = Date.now()): Promise<boolean> {
    const row = await this.#run((executor) => findRevocation(executor, grantId));
    return row !== undefined && this.#attempt(row, now);
  }

  /** Revokes tokens that no grant has. */
  async revokeUnused(
    settings: OAuthServerSettings,
    grant: { issuer: string | null; tokens: GrantTokens },
  ): Promise<void> {
    const id = newId("mcpg_");
    await this.#run((executor) => this.put(executor, settings, { id, ...grant }));
    await this.revoke(id);
  }

  /** Makes the attempts that are due. Resolves with their number. */
  async sweep(now = Date.now()): Promise<number> {
    let count = 0;
    for (;;) {
      const rows = await this.#run((executor) => listDueRevocations(executor, now, ROWS));
      for (const row of rows) await this.#attempt(row, now);
      count += rows.length;
      if (rows.length < ROWS) return count;
    }
  }

  /** Encrypts with the current key what was encrypted with a former one. */
  async reencrypt(): Promise<void> {
    for (let after = ""; ; ) {
      const rows = await this.#run((executor) => listRevocationsAfter(executor, after, ROWS));
      for (const row of rows) {
        const content = this.#options.sealed.reencryptRevocation(row);
        if (content !== undefined) await this.#run((executor) => replaceRevocation(executor, row, content));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS) return;
      after = last.grantId;
    }
  }

  async #attempt(row: McpRevocationRow, now: number): Promise<boolean> {
    const { sealed, servers, logger } = this.#options;
    const { grantId, attempts } = row;
    const nextAttemptAt = now + backoffDelay(attempts + 1, RETRY);
    if (!(await this.#run((executor) => claimRevocation(executor, row, nextAttemptAt)))) return false;
    const content = sealed.openRevocation(row);
    const outcome = content === undefined ? "unsupported" : await revokeTokens({ servers, logger }, content);
    const isLast = attempts + 1 >= MAX_ATTEMPTS;
    if (outcome === "failed" && isLast) {
      logger.warn({ mcpServer: content?.server.name, attempts: MAX_ATTEMPTS }, "gave up revoking tokens");
    }
    if (outcome !== "failed" || isLast) await this.#run((executor) => deleteRevocation(executor, grantId));
    return outcome === "revoked";
  }

  #run<Result>(work: (executor: Executor) => Promise<Result>): Promise<Result> {
    return this.#options.database.run(work);
  }
}
