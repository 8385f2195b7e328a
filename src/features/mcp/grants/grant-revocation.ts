import type { Logger } from "../../../kernel/logger.ts";
import { loadProviderFailure } from "../../sign-on/index.ts";
import type { AuthorizationServers } from "./authorization-servers.ts";
import type { Revocation } from "./sealed-grants.ts";

/** Revokes tokens at their authorization server (RFC 7009). `unsupported`: it has no address for that. */
export async function revokeTokens(
  { servers, logger }: { servers: AuthorizationServers; logger: Logger },
  { server, issuer, tokens }: Revocation,
): Promise<"revoked" | "unsupported" | "failed"> {
  const { accessToken, refreshToken, client } = tokens;
  const settings = { ...server, oauth: { issuer: server.issuer } };
  try {
    const metadata = await servers.metadata(settings, issuer);
    if (metadata.revocation_endpoint === undefined) return "unsupported";
    const configuration = await servers.configuration(settings, metadata, client);
    const oauth = await import("openid-client");
    // The refresh token first: with it, servers revoke the access token, too.
    if (refreshToken !== undefined) {
      await oauth.tokenRevocation(configuration, refreshToken, { token_type_hint: "refresh_token" });
    }
    await oauth.tokenRevocation(configuration, accessToken, { token_type_hint: "access_token" });
    return "revoked";
  } catch (failure) {
    const { toProviderFailure } = await loadProviderFailure();
    const { message: reason } = toProviderFailure(failure, "the authorization server");
    logger.warn({ mcpServer: server.name, reason }, "tokens of an MCP server were not revoked");
    return "failed";
  }
}
