import { formatAddress } from "../../../kernel/discovery/endpoint.ts";
import { secretRedactor } from "../../../kernel/redact-secrets.ts";
import type { UpstreamSettings } from "../connection-settings.ts";

/** Removes secrets from an upstream's messages: keys, header values, addresses. */
export type Redact = (text: string) => string;

/** Redacts the deployment's secrets and its upstream's address. */
export function createRedactor(
  settings: Pick<UpstreamSettings, "baseUrl" | "endpoint" | "apiKey" | "headers" | "proxy">,
): Redact {
  const secrets = [settings.apiKey, settings.proxy, ...Object.values(settings.headers)];
  const redactSecrets = secretRedactor(secrets.map((secret) => secret?.reveal() ?? ""));
  const { endpoint, baseUrl } = settings;
  const { origin, host, hostname, search } = new URL(baseUrl);
  const atEndpoint = endpoint === undefined ? [] : [formatAddress(endpoint), endpoint.host];
  // A bare host name such as `vllm` is an ordinary word in many messages.
  const addresses = [...atEndpoint, baseUrl, origin, search, host, hostname].filter((each) => /[.:?]/.test(each));
  return (text) => {
    let redacted = redactSecrets(text);
    for (const address of addresses) redacted = redacted.replaceAll(address, "[upstream]");
    return redacted;
  };
}

/** Replaces the upstream's model name, as a separate word, by the catalog ID. */
export function renameModel(text: string, upstreamModel: string, model: string): string {
  const name = upstreamModel.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return text.replace(new RegExp(`(?<![\\w./:-])${name}(?![\\w/:-])`, "g"), () => model);
}
