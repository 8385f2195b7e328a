/** Tokens of one grant for one connection to its server. */

import { MINUTE_MS } from "../../../kernel/durations.ts";
import type { OpenGrant } from "./grant-refresh.ts";

/** Access tokens are refreshed this long before they end. */
const MARGIN_MS = MINUTE_MS;

export interface GrantSessionOptions {
  /** Resolves with the next tokens; undefined when the person has to connect again. */
  refresh: (grant: OpenGrant) => Promise<OpenGrant | undefined>;
  /** Reads the grant again, which another process may have refreshed. */
  read: () => Promise<OpenGrant | undefined>;
  /** Notes scopes that the server asked for. */
  noteMissing: (grant: OpenGrant, scopes: string) => Promise<void>;
  /** Returns the failure that tells the caller where to connect. */
  required: (reason: string) => Error;
}

export class GrantSession {
  readonly #options: GrantSessionOptions;
  #grant: OpenGrant;

  constructor(grant: OpenGrant, options: GrantSessionOptions) {
    this.#grant = grant;
    this.#options = options;
  }

  /** Names the grant and its tokens: what a server offers depends on them. */
  get key(): string {
    const { id, version } = this.#grant.row;
    return `${id} ${version}`;
  }

  /** Returns an access token, which is refreshed first when it is about to end. */
  async token(): Promise<string> {
    const { row, tokens } = this.#grant;
    const { tokenExpiresAt } = row;
    const now = Date.now();
    if (tokenExpiresAt === null || tokenExpiresAt > now + MARGIN_MS) return tokens.accessToken;
    const isUsable = tokenExpiresAt > now;
    if (tokens.refreshToken === undefined && isUsable) return tokens.accessToken;
    try {
      await this.#refresh();
    } catch (failure) {
      // The authorization server is away; the token lasts a moment.
      if (!isUsable) throw failure;
    }
    return this.#grant.tokens.accessToken;
  }

  /** Gets other tokens after the server refused the last one. */
  async renew(): Promise<void> {
    const refused = this.#grant.tokens.accessToken;
    const current = await this.#options.read();
    if (current === undefined) throw this.#ended();
    this.#grant = current;
    if (current.tokens.accessToken === refused) await this.#refresh();
  }

  /** Throws the failure for a server that asks for further scopes. */
  async refuseScopes(scopes: string | undefined): Promise<never> {
    if (scopes !== undefined) await this.#options.noteMissing(this.#grant, scopes);
    // No guardrail reads the message, so it has none of the server's text.
    throw this.#options.required("The server asks for further permissions.");
  }

  async #refresh(): Promise<void> {
    const next = await this.#options.refresh(this.#grant);
    if (next === undefined) throw this.#ended();
    this.#grant = next;
  }

  #ended(): Error {
    return this.#options.required("The server no longer accepts the connected account.");
  }
}
