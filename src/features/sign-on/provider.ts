/** An OpenID Connect provider: discovery, the requests of a sign-in and of its renewal, and what its answers mean. */

import type { JWTPayload } from "jose";
import * as oauth from "openid-client";
import { HOUR_MS } from "../../kernel/durations.ts";
import { KeySet } from "./key-set.ts";
import { type Person, toPerson } from "./person.ts";
import { toProviderFailure } from "./provider-failure.ts";
import type { ProviderFetch } from "./provider-fetch.ts";
import { checkClaims } from "./read-claim.ts";
import type { ProviderSettings } from "./settings.ts";
import { SignOnFailure } from "./sign-on-failure.ts";
import type { Transaction } from "./sign-on-transaction.ts";
import { verifyToken } from "./signed-token.ts";

const TIMEOUT_SECONDS = 10;
/** The first use after this reads the discovery document again in the background. */
const DISCOVER_AFTER_MS = HOUR_MS;
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Tokens of a session, which are stored encrypted. */
export interface ProviderTokens {
  refreshToken?: string | undefined;
  accessToken?: string | undefined;
  /** Epoch milliseconds; undefined: the provider does not say. */
  accessTokenExpiresAt?: number | undefined;
  /** Names the session to the provider when it ends. */
  idToken?: string | undefined;
}

export interface SignedOn {
  person: Person;
  /** Session at the provider, if it names it. */
  sid: string | undefined;
  /** When the provider issued the ID token, on its own clock; undefined: it sent none. Epoch milliseconds. */
  issuedAt: number | undefined;
  tokens: ProviderTokens;
}

/** Sessions that a logout token ends: one by its `sid`, or all of a subject. */
export interface Logout {
  subject: string | undefined;
  sid: string | undefined;
  /** On the provider's clock: sessions that began later are not meant. Epoch milliseconds. */
  issuedAt: number;
  /** Difference that the clocks may have. */
  toleranceMs: number;
}

export interface ProviderOptions {
  settings: ProviderSettings;
  fetch: ProviderFetch;
  now?: () => number;
}

export class Provider {
  readonly settings: ProviderSettings;
  readonly #fetch: ProviderFetch;
  readonly #now: () => number;
  readonly #keys: KeySet;
  /** For tokens that anyone can send. */
  readonly #logoutKeys: KeySet;
  #configuration: oauth.Configuration | undefined;
  #discovering: Promise<oauth.Configuration> | undefined;
  #discoveredAt = Number.NEGATIVE_INFINITY;

  constructor({ settings, fetch, now = Date.now }: ProviderOptions) {
    this.settings = settings;
    this.#fetch = fetch;
    this.#now = now;
    const keys = { fetch, findUrl: () => this.#keysUrl(), now };
    this.#keys = new KeySet({ ...keys, isDirect: true });
    this.#logoutKeys = new KeySet(keys);
  }

  get id(): string {
    return this.settings.id;
  }

  get name(): string {
    return this.settings.name ?? this.settings.id;
  }

  /** Address at the provider at which the browser signs in. Throws a SignOnFailure. */
  async authorizationUrl(transaction: Transaction): Promise<URL> {
    const configuration = await this.#discover();
    const { scopes, authorizationParameters } = this.settings;
    return oauth.buildAuthorizationUrl(configuration, {
      ...authorizationParameters,
      redirect_uri: transaction.redirectUri,
      scope: scopes.join(" "),
      state: transaction.state,
      nonce: transaction.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(transaction.verifier),
      code_challenge_method: "S256",
    });
  }

  /** Exchanges the code of the provider's answer, whose parameters `query` has. Throws a SignOnFailure. */
  async complete(query: string, transaction: Transaction): Promise<SignedOn> {
    const configuration = await this.#discover();
    const url = new URL(transaction.redirectUri);
    url.search = query;
    const answer = await oauth
      .authorizationCodeGrant(configuration, url, {
        pkceCodeVerifier: transaction.verifier,
        expectedState: transaction.state,
        expectedNonce: transaction.nonce,
        idTokenExpected: true,
      })
      .catch((failure: unknown) => {
        throw toProviderFailure(failure, this.name);
      });
    const claims = await this.#verifyIdToken(answer.id_token ?? "");
    return this.#toSignedOn(configuration, claims, toTokens(answer, this.#now()));
  }

  /**
   * Asks the provider about a session again, with its refresh token or, without one, its access token. Throws a
   * SignOnFailure `provider-unavailable` when that cannot be known now, and another one when the session has ended.
   */
  async renew(tokens: ProviderTokens, subject: string): Promise<SignedOn> {
    const configuration = await this.#discover();
    if (tokens.refreshToken === undefined) return this.#renewByUserInfo(configuration, tokens, subject);
    const answer = await oauth.refreshTokenGrant(configuration, tokens.refreshToken).catch((failure: unknown) => {
      throw toProviderFailure(failure, this.name);
    });
    const renewed = { ...tokens, ...definedOf(toTokens(answer, this.#now())) };
    const claims =
      answer.id_token === undefined
        ? await this.#userInfo(configuration, answer.access_token, subject)
        : await this.#verifyIdToken(answer.id_token);
    if (claims.sub !== subject) {
      throw new SignOnFailure("bad-token", `${this.name} renewed the session of another person.`);
    }
    return this.#toSignedOn(configuration, claims, renewed);
  }

  /** Address at the provider that ends its session, too; undefined where it has none. */
  endSessionUrl(tokens: ProviderTokens, returnTo: string): string | undefined {
    const configuration = this.#configuration;
    if (!this.settings.endSession || configuration?.serverMetadata().end_session_endpoint === undefined) {
      return undefined;
    }
    return oauth.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: returnTo,
      ...(tokens.idToken !== undefined && { id_token_hint: tokens.idToken }),
    }).href;
  }

  /** Verifies a token of back-channel logout (OpenID Connect Back-Channel Logout 1.0, 2.6). Throws a SignOnFailure. */
  async verifyLogoutToken(token: string): Promise<Logout> {
    const claims = await this.#verify(token, this.#logoutKeys, ["iat", "jti", "events"]);
    const events = claims.events as Record<string, unknown> | null;
    const isLogout = typeof events === "object" && events !== null && Object.hasOwn(events, LOGOUT_EVENT);
    if (!isLogout) throw new SignOnFailure("bad-token", "The token's claim `events` does not name a logout.");
    if (claims.nonce !== undefined) throw new SignOnFailure("bad-token", "A logout token must not have a `nonce`.");
    const { sub, sid, iat = 0 } = claims;
    if (sub === undefined && typeof sid !== "string") {
      throw new SignOnFailure("bad-token", "The token has neither `sub` nor `sid`.");
    }
    if (iat * 1000 < this.#now() - 1000 * (this.settings.clockToleranceSeconds + MAX_LOGOUT_AGE_SECONDS)) {
      throw new SignOnFailure("clock", "The logout token is too old.");
    }
    const toleranceMs = this.settings.clockToleranceSeconds * 1000;
    return { subject: sub, sid: typeof sid === "string" ? sid : undefined, issuedAt: iat * 1000, toleranceMs };
  }

  async #renewByUserInfo(configuration: oauth.Configuration, tokens: ProviderTokens, subject: string) {
    const { accessToken, accessTokenExpiresAt = Number.POSITIVE_INFINITY } = tokens;
    if (accessToken === undefined || accessTokenExpiresAt <= this.#now()) {
      throw new SignOnFailure(
        "code-refused",
        `The session at ${this.name} has ended: it gave no token to renew it with.`,
      );
    }
    const claims = await this.#userInfo(configuration, accessToken, subject);
    return this.#toSignedOn(configuration, claims, tokens);
  }

  async #userInfo(configuration: oauth.Configuration, accessToken: string, subject: string): Promise<JWTPayload> {
    if (configuration.serverMetadata().userinfo_endpoint === undefined) {
      throw new SignOnFailure(
        "code-refused",
        `${this.name} has no way to renew a session: no ID token and no userinfo.`,
      );
    }
    const claims = await oauth.fetchUserInfo(configuration, accessToken, subject).catch((failure: unknown) => {
      throw toProviderFailure(failure, this.name);
    });
    return checkClaims(claims as JWTPayload);
  }

  /** Some providers put groups and addresses into the answer of userinfo only. */
  async #toSignedOn(configuration: oauth.Configuration, claims: JWTPayload, tokens: ProviderTokens): Promise<SignedOn> {
    const { sub = "", sid, iat } = claims;
    const isComplete = toPerson(claims, this.settings).isComplete;
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const merged =
      isComplete || !hasUserInfo || tokens.accessToken === undefined
        ? claims
        : { ...(await this.#userInfo(configuration, tokens.accessToken, sub)), ...claims };
    const { person } = toPerson(merged, this.settings);
    const issuedAt = iat === undefined ? undefined : iat * 1000;
    return { person, sid: typeof sid === "string" ? sid : undefined, issuedAt, tokens };
  }

  #verifyIdToken(token: string): Promise<JWTPayload> {
    return this.#verify(token, this.#keys, ["sub", "iat", "exp"]);
  }

  async #verify(token: string, keys: KeySet, requiredClaims: string[]): Promise<JWTPayload> {
    const { clientId, clockToleranceSeconds } = this.settings;
    const issuer = (await this.#discover()).serverMetadata().issuer;
    const expected = { issuer, audience: clientId, requiredClaims, clockToleranceSeconds, now: this.#now() };
    return verifyToken(token, keys, expected);
  }

  async #keysUrl(): Promise<string> {
    const url = (await this.#discover()).serverMetadata().jwks_uri;
    if (url === undefined) throw new SignOnFailure("provider-error", `${this.name} publishes no keys (jwks_uri).`);
    return url;
  }

  /** Reads the discovery document; while the provider cannot be reached, an earlier one stays in use. */
  async #discover(): Promise<oauth.Configuration> {
    if (this.#configuration !== undefined && this.#now() - this.#discoveredAt < DISCOVER_AFTER_MS) {
      return this.#configuration;
    }
    this.#discovering ??= this.#readDiscovery().finally(() => {
      this.#discovering = undefined;
    });
    if (this.#configuration === undefined) return this.#discovering;
    this.#discovering.catch(() => {});
    return this.#configuration;
  }

  async #readDiscovery(): Promise<oauth.Configuration> {
    const { issuer, clientId, clientSecret, clientAuthentication, clockToleranceSeconds } = this.settings;
    const secret = clientSecret?.reveal();
    const authentication =
      secret === undefined
        ? oauth.None()
        : clientAuthentication === "client_secret_post"
          ? oauth.ClientSecretPost(secret)
          : oauth.ClientSecretBasic(secret);
    const metadata = { [oauth.clockTolerance]: clockToleranceSeconds };
    const configuration = await oauth
      .discovery(new URL(issuer), clientId, metadata, authentication, {
        timeout: TIMEOUT_SECONDS,
        [oauth.customFetch]: this.#fetch as oauth.CustomFetch,
        // The operator chose the issuer's scheme.
        execute: issuer.startsWith("http:") ? [oauth.allowInsecureRequests] : [],
      })
      .catch((failure: unknown) => {
        throw toProviderFailure(failure, this.name);
      });
    this.#configuration = configuration;
    this.#discoveredAt = this.#now();
    return configuration;
  }
}

/** The specification recommends at most two minutes of life for a logout token. */
const MAX_LOGOUT_AGE_SECONDS = 300;

function toTokens(answer: oauth.TokenEndpointResponse, now: number): ProviderTokens {
  const { refresh_token, access_token, expires_in, id_token } = answer;
  return {
    refreshToken: refresh_token,
    accessToken: access_token,
    accessTokenExpiresAt: expires_in === undefined ? undefined : now + expires_in * 1000,
    idToken: id_token,
  };
}

/** A provider that rotates no tokens sends only the new access token. */
function definedOf(tokens: ProviderTokens): ProviderTokens {
  return Object.fromEntries(Object.entries(tokens).filter(([, value]) => value !== undefined));
}
