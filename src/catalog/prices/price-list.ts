/** Prices of upstreams' models, from a list. */

import type { Price } from "../../contracts/price.ts";

export interface PriceListEntry {
  /** Provider as `providerOf` names it. */
  provider: string;
  /** The provider's own ID of the model. */
  model: string;
  price: Price;
}

export class PriceList {
  /** Provider → model → price; the first entry of a model counts. */
  readonly #prices = new Map<string, Map<string, Price>>();

  constructor(entries: Iterable<PriceListEntry>) {
    for (const { provider, model, price } of entries) {
      const models = this.#prices.get(provider) ?? new Map<string, Price>();
      if (!models.has(model)) models.set(model, price);
      this.#prices.set(provider, models);
    }
  }

  /** Finds the model's own price, or that of the model without the date or `-latest` that its name ends in. */
  find(provider: string, model: string): Price | undefined {
    const models = this.#prices.get(provider);
    return models?.get(model) ?? models?.get(undatedModel(model));
  }

  /** All models of a provider. */
  of(provider: string): ReadonlyMap<string, Price> {
    return this.#prices.get(provider) ?? new Map();
  }
}

export function undatedModel(model: string): string {
  return model.replace(/-(latest|\d{8}|\d{4}-\d{2}-\d{2})$/, "");
}

/** Hosts of the providers' APIs. A subdomain, such as one of a region, belongs to the same provider. */
const HOSTS: Readonly<Record<string, string>> = {
  "api.openai.com": "openai",
  "api.anthropic.com": "anthropic",
  "generativelanguage.googleapis.com": "google",
  "api.deepseek.com": "deepseek",
  "api.mistral.ai": "mistral",
  "api.x.ai": "xai",
  "api.groq.com": "groq",
  "api.cohere.com": "cohere",
  "api.cohere.ai": "cohere",
  "api.perplexity.ai": "perplexity",
  "api.together.xyz": "together",
  "api.together.ai": "together",
  "api.fireworks.ai": "fireworks",
  "api.cerebras.ai": "cerebras",
  "api.moonshot.ai": "moonshot",
  "api.deepinfra.com": "deepinfra",
  "api.voyageai.com": "voyage",
  "api.jina.ai": "jina",
  "openrouter.ai": "openrouter",
};

/** Returns the provider of an address; undefined for any other host, whose prices no public list has. */
export function providerOf(baseUrl: string): string | undefined {
  const host = URL.parse(baseUrl)?.hostname ?? "";
  if (host.endsWith(".openai.azure.com")) return "azure";
  if (/^bedrock-runtime(-fips)?\.[a-z0-9-]+\.amazonaws\.com$/.test(host)) return "bedrock";
  if (/(^|-)aiplatform\.googleapis\.com$/.test(host)) return "vertex";
  return Object.entries(HOSTS).find(([known]) => host === known || host.endsWith(`.${known}`))?.[1];
}
