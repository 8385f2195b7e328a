import type { TokenEndpointResponse } from "openid-client";
import { loadProviderFailure, SignOnFailure } from "../../sign-on/index.ts";
import type { AuthorizationServers } from "./authorization-servers.ts";
import type { OAuthServerSettings } from "./oauth-server.ts";
import type { GrantRequest } from "./sealed-grants.ts";

/** Exchanges the code of an authorization server's answer, whose parameters `query` has. Throws a SignOnFailure. */
export async function exchangeCode(
  servers: AuthorizationServers,
  settings: OAuthServerSettings,
  { issuer, redirectUri, client, verifier, state, resource }: GrantRequest,
  query: string,
): Promise<TokenEndpointResponse> {
  try {
    const metadata = await servers.metadata(settings, issuer);
    const url = new URL(redirectUri);
    url.search = query;
    const { authorizationCodeGrant } = await import("openid-client");
    const configuration = await servers.configuration(settings, metadata, client);
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const answer = await authorizationCodeGrant(configuration, url, checks, { resource });
    if (answer.token_type === "bearer") return answer;
    throw new SignOnFailure("bad-token", "The tokens are of another type than Bearer.");
  } catch (error) {
    const { toProviderFailure } = await loadProviderFailure();
    const { reason, message, cause } = toProviderFailure(error, `the authorization server of '${settings.name}'`);
    if (reason === "client-refused") servers.forgetClients(settings);
    const sentence = message.replace(/^./, (letter) => letter.toUpperCase());
    throw new SignOnFailure(reason, sentence, cause);
  }
}
