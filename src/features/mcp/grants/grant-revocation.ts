import * as oauth from "openid-client";
import type { Logger } from "../../../observability/logger.ts";
import { toProviderFailure } from "../../sign-on/provider-failure.ts";
import type { AuthorizationServers } from "./authorization-servers.ts";
import type { OAuthServerSettings } from "./oauth-server.ts";
import type { GrantTokens } from "./sealed-grants.ts";

/** Revokes tokens at their authorization server (RFC 7009). Resolves with whether it said that it has. */
export async function revokeTokens(
  { servers, logger }: { servers: AuthorizationServers; logger: Logger },
  settings: OAuthServerSettings,
  { issuer, tokens }: { issuer: string | null; tokens: GrantTokens },
): Promise<boolean> {
  const { accessToken, refreshToken, client } = tokens;
  try {
    const metadata = await servers.metadata(settings, issuer ?? "");
    if (metadata.revocation_endpoint === undefined) return false;
    const configuration = servers.configuration(settings, metadata, client);
    // The refresh token first: with it, servers revoke the access token, too.
    if (refreshToken !== undefined) {
      await oauth.tokenRevocation(configuration, refreshToken, { token_type_hint: "refresh_token" });
    }
    await oauth.tokenRevocation(configuration, accessToken, { token_type_hint: "access_token" });
    return true;
  } catch (failure) {
    const { message: reason } = toProviderFailure(failure, "the authorization server");
    logger.warn({ mcpServer: settings.name, reason }, "tokens of an MCP server were not revoked");
    return false;
  }
}
