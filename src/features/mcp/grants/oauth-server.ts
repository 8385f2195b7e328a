/** A server of the configuration at which callers have accounts. */

import type { McpServerSettings } from "../settings.ts";

export type OAuthServerSettings = McpServerSettings & {
  url: string;
  oauth: NonNullable<McpServerSettings["oauth"]>;
};

/** What requests to an authorization server need of a server. */
export type AuthorizedServer = Pick<OAuthServerSettings, "name" | "url"> & {
  oauth: Pick<OAuthServerSettings["oauth"], "issuer">;
};

export function usesOAuth(settings: McpServerSettings): settings is OAuthServerSettings {
  return settings.url !== undefined && settings.oauth !== undefined;
}

/** Address of the console's page of a server, on which people connect accounts. */
export function pageOf(origin: string, server: string): string {
  return `${origin}/#/mcp/${server}`;
}
