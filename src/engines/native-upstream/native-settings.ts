/** Settings that the engines of providers have in common. */

import type { z } from "zod";
import { Secret } from "../../kernel/secret.ts";
import {
  baseUrl,
  CONNECTION_FIELDS,
  secret,
  toConnectionSettings,
  type UpstreamSettings,
} from "../openai-compatible/connection-settings.ts";

export { CONNECTION_FIELDS, secret, type UpstreamSettings };

/** Base URL of a provider whose public address is the default. */
export function baseUrlSetting(address: string) {
  return baseUrl.default(address).describe(`Base URL. Default: ${address}`);
}

type ConnectionValues = z.output<z.ZodObject<typeof CONNECTION_FIELDS>>;

interface ProviderConnection {
  baseUrl: string;
  /** Headers of the provider, which `headers` of the configuration override; undefined ones are left out. */
  headers?: Readonly<Record<string, string | Secret | undefined>>;
  apiKey?: Secret | undefined;
  /** Whether GET /models exists below the base URL. Default: false. */
  probe?: boolean;
}

export function toUpstreamSettings(value: ConnectionValues, provider: ProviderConnection): UpstreamSettings {
  const connection = toConnectionSettings(value);
  const headers: Record<string, Secret> = {};
  for (const [name, header] of Object.entries(provider.headers ?? {})) {
    if (header !== undefined) headers[name] = header instanceof Secret ? header : new Secret(header);
  }
  return {
    ...connection,
    headers: { ...headers, ...connection.headers },
    baseUrl: provider.baseUrl,
    apiKey: provider.apiKey,
    probe: provider.probe === true,
    metricsIntervalSeconds: 1,
  };
}
