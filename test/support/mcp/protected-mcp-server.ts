/** An MCP server with accounts, and its authorization server (`oidc-provider`), in the test's process at one origin. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { type Configuration, Provider } from "oidc-provider";

const RESOURCE_METADATA = "/.well-known/oauth-protected-resource/mcp";

interface TokenRecord {
  accountId: string;
  aud: string | string[];
  scopes: Set<string>;
}

export class ProtectedMcpServer implements AsyncDisposable {
  /** Account that signs in at the authorization server; `nobody` refuses. */
  account = "alice";
  /** Lifetime of access tokens. */
  tokenSeconds = 3600;
  /** Changes the description of the protected resource. */
  describe: ((metadata: Record<string, unknown>) => Record<string, unknown>) | undefined;
  /** Changes the description of the authorization server. */
  describeIssuer: ((metadata: Record<string, unknown>) => Record<string, unknown>) | undefined;
  /** Called before an answer of the token endpoint; its requests wait. */
  beforeToken: (() => Promise<void>) | undefined;
  /** Whether requests to revoke tokens fail. */
  refusesRevocation = false;
  /** Requests, oldest first. */
  readonly requests: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  readonly #server: Server;
  #provider: Provider | undefined;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(): Promise<ProtectedMcpServer> {
    const server = new ProtectedMcpServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    const { privateKey } = await generateKeyPair("RS256", { extractable: true });
    server.#provider = new Provider(server.origin, server.#configuration(await exportJWK(privateKey)));
    server.#provider.use(async (context, next) => {
      if (context.path.startsWith("/interaction/")) return server.#interact(context.req, context.res);
      if (context.path === "/token") await server.beforeToken?.();
      if (context.path === "/token/revocation" && server.refusesRevocation) {
        context.status = 503;
        return;
      }
      await next();
      if (context.path.startsWith("/.well-known/") && server.describeIssuer !== undefined) {
        context.body = server.describeIssuer(context.body as Record<string, unknown>);
      }
    });
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** Bodies of requests to the token endpoint with a grant type. */
  tokenRequests(grantType: string): URLSearchParams[] {
    const bodies = this.requests.filter(({ path }) => path === "/token").map(({ body }) => new URLSearchParams(body));
    return bodies.filter((body) => body.get("grant_type") === grantType);
  }

  /** Bearer tokens that the MCP server got. */
  get tokens(): string[] {
    return this.requests.flatMap(({ path, headers }) =>
      path === "/mcp" && headers.authorization !== undefined ? [headers.authorization.replace("Bearer ", "")] : [],
    );
  }

  /** Makes an access token invalid, as its end does. */
  async endToken(token: string): Promise<void> {
    const stored = await this.#provider?.AccessToken.find(token);
    await stored?.destroy();
  }

  /** Makes all tokens of an access token's grant invalid, as the owner of the account can. */
  async revokeGrantOf(token: string): Promise<void> {
    const provider = this.#provider;
    const { grantId = "" } = (await provider?.AccessToken.find(token)) ?? {};
    await provider?.AccessToken.revokeByGrantId(grantId);
    await provider?.RefreshToken.revokeByGrantId(grantId);
  }

  async isActive(token: string): Promise<boolean> {
    return (await this.#provider?.AccessToken.find(token)) !== undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { pathname: path } = new URL(request.url ?? "", this.origin);
    this.requests.push({ method: String(request.method), path, headers: request.headers, body });
    if (path === "/mcp") return this.#answer(request, response, body);
    if (path === RESOURCE_METADATA) {
      const metadata = {
        resource: this.url,
        authorization_servers: [this.origin],
        scopes_supported: ["tools"],
      };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(this.describe?.(metadata) ?? metadata));
      return;
    }
    // The provider reads the body again.
    const replayed = Object.assign(Readable.from(body === "" ? [] : [Buffer.from(body)]), {
      method: request.method,
      url: request.url,
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      socket: request.socket,
      connection: request.socket,
      httpVersion: request.httpVersion,
      complete: true,
    });
    await this.#provider?.callback()(replayed as never, response);
  }

  /** Answers an MCP request for the account of its token. */
  async #answer(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const stored = (await this.#provider?.AccessToken.find(token)) as unknown as TokenRecord | undefined;
    const metadata = `resource_metadata="${this.origin}${RESOURCE_METADATA}"`;
    if (stored === undefined || ![stored.aud].flat().includes(this.url)) {
      response.writeHead(401, { "www-authenticate": `Bearer ${metadata}` }).end();
      return;
    }
    const { method = "", params } = (body === "" ? {} : JSON.parse(body)) as {
      method?: string;
      params?: { name?: string };
    };
    if (method === "tools/call" && params?.name === "administer" && !stored.scopes.has("admin")) {
      const challenge = `Bearer error="insufficient_scope", scope="admin", ${metadata}`;
      response.writeHead(403, { "www-authenticate": challenge }).end();
      return;
    }
    const { accountId } = stored;
    const handler = createMcpHandler(() => createTools(accountId));
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    const init = { method: String(request.method), headers, ...(body !== "" && { body }) };
    const answer = await handler.fetch(new Request(this.url, init));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
    await handler.close();
  }

  #configuration(key: JWK): Configuration {
    return {
      jwks: { keys: [{ ...key, alg: "RS256", use: "sig" }] as never },
      cookies: { keys: ["a-key-of-the-test"] },
      scopes: ["openid", "offline_access", "tools", "admin"],
      clientDefaults: { grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        revocation: { enabled: true, allowedPolicy: async () => true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: async (_context, resource) => ({
            scope: "tools admin",
            audience: resource,
            accessTokenFormat: "opaque",
            accessTokenTTL: this.tokenSeconds,
          }),
          useGrantedResource: async () => true,
        },
      },
      interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
      issueRefreshToken: async () => true,
      rotateRefreshToken: true,
      pkce: { required: () => true },
      ttl: { Interaction: 600, Session: 86_400, Grant: 86_400, RefreshToken: 86_400, AuthorizationCode: 60 },
      findAccount: async (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    };
  }

  /** Signs the account in, and consents to what is requested. */
  async #interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = this.#provider as Provider;
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (this.account === "nobody") {
      return provider.interactionFinished(request, response, { error: "access_denied" });
    }
    if (prompt.name === "login") {
      return provider.interactionFinished(request, response, { login: { accountId: this.account } });
    }
    const grant = new provider.Grant({ accountId: session?.accountId ?? "", clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    grant.addResourceScope(String(params.resource), String(params.scope));
    const grantId = await grant.save();
    await provider.interactionFinished(request, response, { consent: { grantId } }, { mergeWithLastSubmission: true });
  }
}

function createTools(account: string): McpServer {
  const server = new McpServer({ name: "accounts", version: "1.0.0" }, { capabilities: { tools: {} } });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  server.registerTool("whoami", { description: "Names the account" }, () => text(`you are ${account}`));
  server.registerTool("administer", { description: "Needs a further scope" }, () => text("done"));
  // What a server offers may depend on the account.
  server.registerTool(`only_${account}`, { description: "Private" }, () => text("private"));
  return server;
}
