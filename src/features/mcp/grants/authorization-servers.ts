/** Authorization servers of MCP servers: discovery (RFC 9728, RFC 8414, OpenID Connect), registration, requests. */

import type * as oauth from "openid-client";
import { HOUR_MS } from "../../../kernel/durations.ts";
import { growingCache } from "../../../kernel/growing-cache.ts";
import { isLoopbackName } from "../../../kernel/outgoing/loopback-name.ts";
import { AddressRefused } from "../../../kernel/outgoing/outgoing-guard.ts";
import { VERSION } from "../../../kernel/version.ts";
import { authorizationFailed } from "./grant-faults.ts";
import type { GrantFetches } from "./grant-fetch.ts";
import type { AuthorizedServer, OAuthServerSettings } from "./oauth-server.ts";
import type { GrantClient } from "./sealed-grants.ts";

type Library = typeof import("@modelcontextprotocol/client");
type Metadata = oauth.ServerMetadata & { client_id_metadata_document_supported?: boolean };

/** What a server and its authorization server say. */
export interface Discovery {
  metadata: Metadata;
  /** Resource indicator for tokens (RFC 8707). */
  resource: string;
  /** Scopes that the server asks for, separated by spaces. */
  scope: string | undefined;
}

/** Addresses of this service for one server. */
export interface ClientAddresses {
  redirectUri: string;
  /** Address of this service's client metadata, by which servers that know no client find it. */
  clientMetadata: string;
}

const REQUEST_SECONDS = 10;
const OFFLINE_ACCESS = "offline_access";
const MAX_CACHED = 500;

export class AuthorizationServers {
  readonly #fetches: GrantFetches;
  /** By issuer and server. */
  readonly #metadata = growingCache<Metadata>(MAX_CACHED, { ttlMs: HOUR_MS });
  /** Registrations by server, issuer and redirect address: people who connect within an hour share one. */
  readonly #clients = growingCache<Promise<GrantClient>>(MAX_CACHED, { ttlMs: HOUR_MS });

  constructor(fetches: GrantFetches) {
    this.#fetches = fetches;
  }

  /** Asks the server who issues tokens for it. Throws a Fault. */
  async discover(settings: OAuthServerSettings): Promise<Discovery> {
    const { name, url, oauth: configured } = settings;
    const library = await import("@modelcontextprotocol/client");
    const fetch = this.#fetches.of(settings) as typeof globalThis.fetch;
    const challenge = await failingAs(name, "the server could not be asked for its authorization server", () =>
      readChallenge(library, settings, fetch),
    );
    const resourceMetadata = await this.#resourceMetadata(library, settings, challenge.resourceMetadataUrl, fetch);
    const issuers = resourceMetadata?.authorization_servers ?? [];
    if (
      configured.issuer !== undefined &&
      issuers.length > 0 &&
      !issuers.some((each) => isSameIssuer(each, configured.issuer))
    ) {
      throw authorizationFailed(name, "the server names another authorization server than `oauth.issuer`.");
    }
    // Servers of the protocol before June 2025 are their authorization servers.
    const issuer = configured.issuer ?? issuers[0] ?? new URL(url).origin;
    const metadata = await this.metadata(settings, issuer);
    const resource = library.resourceUrlFromServerUrl(url).href;
    const configuredResource = resourceMetadata?.resource ?? resource;
    if (!library.checkResourceAllowed({ requestedResource: resource, configuredResource })) {
      throw authorizationFailed(name, "the server's metadata is about another resource.");
    }
    const scope = configured.scopes?.join(" ") ?? challenge.scope ?? resourceMetadata?.scopes_supported?.join(" ");
    return { metadata, resource: configuredResource, scope: withOfflineAccess(scope, metadata) };
  }

  /** Metadata of an issuer. Throws a Fault unless it supports what tokens need. */
  async metadata(settings: AuthorizedServer, issuer: string): Promise<Metadata> {
    const { name } = settings;
    const key = `${name} ${issuer}`;
    const cached = this.#metadata.get(key);
    if (cached !== undefined) return cached;
    const library = await import("@modelcontextprotocol/client");
    const fetchFn = this.#fetches.of(settings) as typeof globalThis.fetch;
    const metadata = await failingAs(
      name,
      "its authorization server could not be reached or describes itself wrong",
      () => library.discoverAuthorizationServerMetadata(issuer, { fetchFn }),
    );
    if (metadata === undefined) throw authorizationFailed(name, "its authorization server does not describe itself.");
    const { authorization_endpoint: endpoint, code_challenge_methods_supported: methods = [] } = metadata;
    if (!methods.includes("S256")) {
      throw authorizationFailed(name, "its authorization server does not support PKCE with S256.");
    }
    // Browsers open it.
    if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
      throw authorizationFailed(name, "its authorization server has no address for browsers.");
    }
    this.#metadata.set(key, metadata as Metadata);
    return metadata as Metadata;
  }

  /** The client of the configuration, else the service's metadata where that is supported, else a registration. */
  async client(
    settings: OAuthServerSettings,
    metadata: Metadata,
    { redirectUri, clientMetadata }: ClientAddresses,
  ): Promise<GrantClient> {
    const { name, oauth: configured } = settings;
    if (configured.clientId !== undefined) {
      const secret = configured.clientSecret?.reveal();
      if (secret === undefined) return { id: configured.clientId, authentication: "none" };
      const authentication = authenticationFor(metadata);
      return {
        id: configured.clientId,
        secret,
        authentication: authentication === "none" ? "client_secret_basic" : authentication,
      };
    }
    const isPublished = clientMetadata.startsWith("https:") && configured.registration !== "dynamic";
    if (isPublished && metadata.client_id_metadata_document_supported === true) {
      return { id: clientMetadata, authentication: "none" };
    }
    if (metadata.registration_endpoint === undefined || configured.registration === "metadata_document") {
      throw authorizationFailed(name, "its authorization server registers no clients: set `oauth.client_id`.");
    }
    const key = `${name} ${metadata.issuer} ${redirectUri}`;
    let client = this.#clients.get(key);
    if (client === undefined) {
      client = this.#register(settings, metadata, redirectUri);
      this.#clients.set(key, client);
      client.catch(() => this.#clients.delete(key));
    }
    return client;
  }

  /** Drops the registrations of a server, which its authorization server no longer accepts. */
  forgetClients({ name }: OAuthServerSettings): void {
    for (const key of this.#clients.keys()) if (key.startsWith(`${name} `)) this.#clients.delete(key);
  }

  /** Configuration for the requests of openid-client, which is loaded for the first one. */
  async configuration(
    settings: AuthorizedServer,
    metadata: Metadata,
    { id, secret = "", authentication }: GrantClient,
  ): Promise<oauth.Configuration> {
    const oauth = await import("openid-client");
    const authentications = {
      none: oauth.None,
      client_secret_basic: () => oauth.ClientSecretBasic(secret),
      client_secret_post: () => oauth.ClientSecretPost(secret),
    };
    const configuration = new oauth.Configuration(metadata, id, undefined, authentications[authentication]());
    configuration.timeout = REQUEST_SECONDS;
    configuration[oauth.customFetch] = this.#fetches.of(settings) as oauth.CustomFetch;
    // The fetch admits http: only where the operator chose it.
    oauth.allowInsecureRequests(configuration);
    return configuration;
  }

  async #resourceMetadata(
    { discoverOAuthProtectedResourceMetadata }: Library,
    { name, url }: OAuthServerSettings,
    resourceMetadataUrl: URL | undefined,
    fetch: typeof globalThis.fetch,
  ) {
    const work = () => discoverOAuthProtectedResourceMetadata(url, { resourceMetadataUrl }, fetch);
    if (resourceMetadataUrl === undefined) return work().catch(() => undefined);
    return failingAs(name, "its description as a protected resource could not be read", work);
  }

  async #register(settings: OAuthServerSettings, metadata: Metadata, redirectUri: string): Promise<GrantClient> {
    const { registerClient } = await import("@modelcontextprotocol/client");
    const problem = "its authorization server did not register this service: set `oauth.client_id`";
    const information = await failingAs(settings.name, problem, () =>
      registerClient(metadata.issuer, {
        metadata: metadata as never,
        clientMetadata: clientMetadataOf(redirectUri, authenticationFor(metadata)),
        fetchFn: this.#fetches.of(settings) as typeof globalThis.fetch,
      }),
    );
    const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = information;
    if (secret === undefined) return { id, authentication: "none" };
    return { id, secret, authentication: method === "client_secret_post" ? method : "client_secret_basic" };
  }
}

/** Metadata of this service as a client (RFC 7591). */
export function clientMetadataOf(redirectUri: string, authentication: GrantClient["authentication"]) {
  const isLoopback = isLoopbackName(new URL(redirectUri).hostname);
  return {
    client_name: "Parlance",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: authentication,
    // OpenID Connect allows http: at this machine for native applications only.
    application_type: isLoopback ? "native" : "web",
  };
}

/** Sends a first message without a token, and returns what the server asks for. */
async function readChallenge(
  { extractWWWAuthenticateParams }: Library,
  { url, headers }: OAuthServerSettings,
  fetch: typeof globalThis.fetch,
) {
  const message = {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "parlance", version: VERSION } },
  };
  const sent = Object.entries(headers).map(([name, value]): [string, string] => [name, value.reveal()]);
  const accept = "application/json, text/event-stream";
  const response = await fetch(url, {
    method: "POST",
    headers: new Headers([...sent, ["content-type", "application/json"], ["accept", accept]]),
    body: JSON.stringify(message),
  });
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

/** Adds the scope for refresh tokens where the authorization server has it. */
function withOfflineAccess(scope: string | undefined, { scopes_supported: supported = [] }: Metadata) {
  if (!supported.includes(OFFLINE_ACCESS) || scope?.split(" ").includes(OFFLINE_ACCESS)) return scope;
  return scope === undefined ? OFFLINE_ACCESS : `${scope} ${OFFLINE_ACCESS}`;
}

function authenticationFor({
  token_endpoint_auth_methods_supported: methods,
}: Metadata): GrantClient["authentication"] {
  const order = ["client_secret_basic", "client_secret_post", "none"] as const;
  return order.find((each) => methods?.includes(each)) ?? "client_secret_basic";
}

function isSameIssuer(a: string, b: string | undefined): boolean {
  return a.replace(/\/$/, "") === b?.replace(/\/$/, "");
}

/** Runs a request. Throws a Fault for its failure, whose text may name addresses that only the operator should see. */
async function failingAs<Result>(server: string, problem: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (failure) {
    const reason = isRefusedAddress(failure) ? "it has an address that may not be connected to" : problem;
    throw authorizationFailed(server, `${reason}.`, failure);
  }
}

function isRefusedAddress(failure: unknown): boolean {
  for (let cause = failure; cause instanceof Error; cause = cause.cause)
    if (cause instanceof AddressRefused) return true;
  return false;
}
