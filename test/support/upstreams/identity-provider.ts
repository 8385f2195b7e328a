/** A real OpenID Connect provider (`oidc-provider`) in the test's process, whose people, keys and faults a test sets. */

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { type Adapter, type AdapterPayload, type Configuration, Provider } from "oidc-provider";

export interface ProviderPerson {
  email: string;
  name: string;
  groups: string[];
  isEmailVerified?: boolean;
  /** The provider refuses to renew the sessions of a disabled person. */
  isDisabled?: boolean;
}

export interface IdentityProviderOptions {
  /** Address of the service, for its redirects and logout tokens. */
  serviceOrigin?: string;
  /** Without refresh tokens, a session is checked by userinfo. */
  hasRefreshTokens?: boolean;
  /** Whether claims are in ID tokens, or in the answers of userinfo only. */
  hasClaimsInIdToken?: boolean;
  /** Whether logout tokens name the session. */
  hasSid?: boolean;
}

export const CLIENT_ID = "parlance";
export const CLIENT_SECRET = "a-secret-of-the-test";

type TokenAnswer = Record<string, unknown>;

export class IdentityProvider implements AsyncDisposable {
  readonly people = new Map<string, ProviderPerson>();
  /** Subject who signs in without a form; undefined: the browser shows one. */
  signsInAs: string | undefined;
  /** Whether connections are cut. */
  isAway = false;
  /** Changes answers of the token endpoint. */
  tamper: ((answer: TokenAnswer) => TokenAnswer | Promise<TokenAnswer>) | undefined;
  /** Paths of requests. */
  readonly requests: string[] = [];
  readonly #options: IdentityProviderOptions;
  readonly #server: Server;
  readonly #records = new Map<string, AdapterPayload>();
  #handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => {};
  #provider: Provider | undefined;
  #keys: JWK[] = [];

  private constructor(options: IdentityProviderOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.requests.push(request.url ?? "");
      if (this.isAway) return request.socket.destroy();
      return this.#handle(request, response);
    });
  }

  static async start(options: IdentityProviderOptions = {}): Promise<IdentityProvider> {
    const provider = new IdentityProvider(options);
    provider.#server.listen(0, "127.0.0.1");
    await once(provider.#server, "listening");
    await provider.rotateKeys();
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  set serviceOrigin(origin: string) {
    this.#options.serviceOrigin = origin;
    this.#open();
  }

  /** Replaces the signing key; the former one is no longer published. */
  async rotateKeys(alg = "RS256"): Promise<void> {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    this.#keys = [{ ...(await exportJWK(privateKey)), kid: randomUUID(), alg, use: "sig" }];
    this.#open();
  }

  /** Signs claims with the provider's key, or with another one that it does not publish. */
  async sign(claims: JWTPayload, { header = {}, foreignKey = false, algorithm = "RS256" } = {}): Promise<string> {
    if (algorithm === "none") return new UnsecuredJWT(claims).encode();
    const [key = {}] = this.#keys;
    const { alg = "RS256" } = key;
    const signer = foreignKey ? (await generateKeyPair(alg)).privateKey : await importJWK(key, alg);
    return new SignJWT(claims).setProtectedHeader({ alg, kid: String(key.kid), ...header }).sign(signer);
  }

  /** Signs a logout token as the provider does. */
  async logoutToken(claims: JWTPayload, options: Parameters<IdentityProvider["sign"]>[1] = {}): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
    const common = { iss: this.issuer, aud: CLIENT_ID, iat, exp: iat + 120, jti: randomUUID(), events };
    return this.sign({ ...common, ...claims }, { header: { typ: "logout+jwt" }, ...options });
  }

  /** Sessions of a person for the service, as ID tokens name them, oldest first. */
  sidsOf(subject: string): string[] {
    const sessions = [...this.#records].filter(
      ([id, { accountId }]) => id.startsWith("Session:") && accountId === subject,
    );
    return sessions.flatMap(([, { authorizations }]) => authorizations?.[CLIENT_ID]?.sid ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #open(): void {
    const { serviceOrigin = "http://127.0.0.1:1", hasRefreshTokens = true, hasSid = true } = this.#options;
    const configuration: Configuration = {
      adapter: (model: string) => this.#adapter(model),
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          grant_types: ["authorization_code", ...(hasRefreshTokens ? ["refresh_token"] : [])],
          redirect_uris: ["idp", "second"].map((id) => `${serviceOrigin}/sign-on/${id}/callback`),
          post_logout_redirect_uris: [`${serviceOrigin}/`],
          backchannel_logout_uri: `${serviceOrigin}/sign-on/idp/backchannel-logout`,
          backchannel_logout_session_required: hasSid,
        },
      ],
      jwks: { keys: this.#keys as never },
      cookies: { keys: ["a-key-of-the-test"] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
      conformIdTokenClaims: this.#options.hasClaimsInIdToken === false,
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: async (context, form) => {
            context.body = `<!doctype html>${form}<button form="op.logoutForm" name="logout" value="yes">Log out</button>`;
          },
        },
        userinfo: { enabled: true },
      },
      interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
      issueRefreshToken: async () => hasRefreshTokens,
      rotateRefreshToken: true,
      pkce: { required: () => true },
      // Fetches go to the test's service on loopback.
      fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
      ttl: {
        AccessToken: 3600,
        AuthorizationCode: 60,
        IdToken: 3600,
        RefreshToken: 86_400,
        Session: 86_400,
        Grant: 86_400,
        Interaction: 600,
      },
      findAccount: async (_context, subject) => {
        const person = this.people.get(subject);
        if (person === undefined || person.isDisabled) return undefined;
        const { email, name, groups, isEmailVerified = true } = person;
        const claims = { sub: subject, email, email_verified: isEmailVerified, name, groups };
        return { accountId: subject, claims: async () => claims };
      },
      // Nobody is asked for consent.
      loadExistingGrant: async (context) => {
        const { client, session, params } = context.oidc;
        const grant = new context.oidc.provider.Grant({
          clientId: client?.clientId ?? "",
          accountId: session?.accountId ?? "",
        });
        grant.addOIDCScope(String(params?.scope ?? "openid"));
        await grant.save();
        return grant;
      },
    };
    const provider = new Provider(this.issuer, configuration);
    provider.use(async (context, next) => {
      if (context.path.startsWith("/interaction/")) return this.#interact(context.req, context.res);
      await next();
      const isToken = context.path === "/token" && context.status === 200;
      if (isToken && this.tamper !== undefined) context.body = await this.tamper(context.body as TokenAnswer);
    });
    this.#provider = provider;
    this.#handle = provider.callback();
  }

  /** Shows one button for each person, or signs a person in without it. */
  async #interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = this.#provider;
    if (provider === undefined) return;
    const { searchParams } = new URL(request.url ?? "", this.issuer);
    const subject = searchParams.get("as") ?? this.signsInAs;
    if (subject === "nobody") {
      const refusal = { error: "access_denied", error_description: "The person pressed <Cancel>" };
      return provider.interactionFinished(request, response, refusal, { mergeWithLastSubmission: false });
    }
    if (subject !== undefined) {
      return provider.interactionFinished(request, response, { login: { accountId: subject } });
    }
    const links = [...this.people].map(([id, { name }]) => `<li><a href="?as=${id}">Sign in as ${name}</a></li>`);
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!doctype html><title>Identity provider</title><ul>${links.join("")}</ul>`);
  }

  #adapter(model: string): Adapter {
    const key = (id: string) => `${model}:${id}`;
    const find = (matches: (payload: AdapterPayload) => boolean) =>
      [...this.#records].find(([id, payload]) => id.startsWith(`${model}:`) && matches(payload))?.[1];
    return {
      upsert: async (id, payload) => void this.#records.set(key(id), payload),
      find: async (id) => this.#records.get(key(id)),
      findByUid: async (uid) => find((payload) => payload.uid === uid),
      findByUserCode: async (code) => find((payload) => payload.userCode === code),
      destroy: async (id) => void this.#records.delete(key(id)),
      consume: async (id) => {
        const payload = this.#records.get(key(id));
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      revokeByGrantId: async (grantId) => {
        for (const [id, payload] of this.#records) if (payload.grantId === grantId) this.#records.delete(id);
      },
    };
  }
}
