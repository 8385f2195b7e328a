import { stringify } from "yaml";

interface Upstream {
  baseUrl: string;
  /** Left out: the upstream checks none. */
  apiKey?: string;
}

/** A deployment in YAML, in one line: a model of another service, or of an upstream of the tests. */
export function deploymentAt({ baseUrl, apiKey = "sk-upstream" }: Upstream, model?: string, settings?: object): string {
  const deployment = { engine: "openai-compatible", base_url: baseUrl, api_key: apiKey, model, ...settings };
  return stringify(deployment, { collectionStyle: "flow", lineWidth: 0 }).trim();
}
