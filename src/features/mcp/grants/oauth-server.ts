/** A server of the configuration at which callers have accounts. */

import type { McpServerSettings } from "../settings.ts";

export type OAuthServerSettings = McpServerSettings & {
  url: string;
  oauth: NonNullable<McpServerSettings["oauth"]>;
};

export function usesOAuth(settings: McpServerSettings): settings is OAuthServerSettings {
  return settings.url !== undefined && settings.oauth !== undefined;
}
