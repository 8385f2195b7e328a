/** Public keys of an issuer: cached, rotated, and kept while the issuer cannot be reached. */

import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey, type RemoteJWKSet } from "jose";
import { DAY_MS, MINUTE_MS } from "../../kernel/durations.ts";
import type { ProviderFetch } from "./provider-fetch.ts";

const FETCH_TIMEOUT_MS = 5_000;
/** Tokens that anyone can send, with unknown keys, cause at most one request in this time. */
const UNKNOWN_KEY_COOLDOWN_MS = 5_000;
/** The same for tokens that come from the issuer itself. */
const DIRECT_COOLDOWN_MS = 1_000;
/** The first use after this reads the keys again in the background, so that removed keys stop working. */
const REFRESH_AFTER_MS = 10 * MINUTE_MS;
/** Keys are not trusted longer without an answer of the issuer. */
const MAX_AGE_MS = DAY_MS;

interface OpenKeys {
  url: string;
  remote: RemoteJWKSet;
  readAt: number;
}

export interface KeySetOptions {
  fetch: ProviderFetch;
  /** Resolves with the address of the keys, which the issuer may change. */
  findUrl: () => Promise<string>;
  /** Whether the tokens come from the issuer itself, rather than from anyone. */
  isDirect?: boolean;
  now?: () => number;
}

export class KeySet {
  readonly #fetch: ProviderFetch;
  readonly #findUrl: () => Promise<string>;
  readonly #cooldownMs: number;
  readonly #now: () => number;
  #keys: OpenKeys | undefined;
  #url: { value: string; foundAt: number } | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor({ fetch, findUrl, isDirect = false, now = Date.now }: KeySetOptions) {
    this.#fetch = fetch;
    this.#findUrl = findUrl;
    this.#cooldownMs = isDirect ? DIRECT_COOLDOWN_MS : UNKNOWN_KEY_COOLDOWN_MS;
    this.#now = now;
  }

  /** Finds the key of a token, for jose. Throws a JOSEError, or the error of the connection. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const url = await this.#currentUrl();
    if (this.#keys?.url !== url) this.#keys = { url, remote: this.#open(url), readAt: this.#now() };
    const keys = this.#keys;
    const age = this.#now() - keys.readAt;
    if (age > MAX_AGE_MS) await this.#refresh(keys);
    else if (age > REFRESH_AFTER_MS) void this.#refresh(keys).catch(() => {});
    return keys.remote(header, token);
  };

  /** While the issuer cannot be reached, an earlier address stays in use. */
  async #currentUrl(): Promise<string> {
    const now = this.#now();
    if (this.#url !== undefined && now - this.#url.foundAt < REFRESH_AFTER_MS) return this.#url.value;
    try {
      this.#url = { value: await this.#findUrl(), foundAt: now };
    } catch (failure) {
      if (this.#url === undefined) throw failure;
    }
    return this.#url.value;
  }

  async #refresh(keys: OpenKeys): Promise<void> {
    const now = this.#now();
    if (now - this.#triedAt < this.#cooldownMs && now - keys.readAt <= MAX_AGE_MS) return;
    this.#triedAt = now;
    await keys.remote.reload();
    keys.readAt = this.#now();
  }

  #open(url: string): RemoteJWKSet {
    return createRemoteJWKSet(new URL(url), {
      timeoutDuration: FETCH_TIMEOUT_MS,
      cooldownDuration: this.#cooldownMs,
      cacheMaxAge: Number.POSITIVE_INFINITY,
      [customFetch]: this.#fetch,
    });
  }
}
