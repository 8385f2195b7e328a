/** Completes the prices of specifications: currencies, price lists, and factors of projects. */

import { readFile } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { NO_PRICE, type Price } from "../../contracts/price.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { ModelSpec } from "../build-catalog.ts";
import { builtinPrices } from "./builtin-prices.ts";
import { isLiteLlmPrices, readLiteLlmPrices } from "./litellm-prices.ts";
import { isPortkeyPrices, readPortkeyPrices } from "./portkey-prices.ts";
import { PriceList, type PriceListEntry, providerOf } from "./price-list.ts";

type DeploymentSpec = ModelSpec["deployments"][number];

/** Throws a Fault for a price list that cannot be read. */
export async function withPrices(
  specifications: readonly ModelSpec[],
  { prices, file }: Pick<Settings, "prices" | "file">,
): Promise<readonly ModelSpec[]> {
  const { lists, exchangeRates, projectFactors } = prices;
  const directory = file === undefined ? process.cwd() : dirname(file);
  const list = new PriceList((await Promise.all(lists.map((each) => readPriceList(each, directory)))).flat());
  const factors = Object.keys(projectFactors).length === 0 ? undefined : projectFactors;
  const convert = (price: Price) => converted(price, exchangeRates);
  return specifications.map((specification) => ({
    ...specification,
    price: convert(specification.price),
    batchPrice: specification.batchPrice && convert(specification.batchPrice),
    projectFactors: factors,
    deployments: specification.deployments.map((deployment) => {
      const { routingOptions } = deployment;
      const price = convert(routingOptions.price);
      const listed = isEmpty(price) ? listedPrice(specification.id, deployment, list) : {};
      return { ...deployment, routingOptions: { ...routingOptions, price, ...listed } };
    }),
  }));
}

/** `checkCurrencies` has found the rate. */
function converted(price: Price, exchangeRates: Readonly<Record<string, string>>): Price {
  const rate = price.currency === undefined ? undefined : exchangeRates[price.currency];
  return rate === undefined ? price : { ...price, exchange_rate: rate };
}

function isEmpty(price: Price): boolean {
  return Object.keys(price).length === 0;
}

/** Reads `builtin` or a file. Throws a Fault that names it. */
export async function readPriceList(name: string, directory: string): Promise<PriceListEntry[]> {
  if (name === "builtin") return builtinPrices();
  const path = resolve(directory, name);
  const refuse = (problem: string, cause?: unknown) =>
    new Fault("invalid-request", `The price list ${path} ${problem}. Correct prices.lists.`, { cause });
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw refuse(error.code === "ENOENT" ? "does not exist" : `cannot be read: ${error.message}`, error);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse("is not valid JSON", error);
  }
  const fields = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  if (isLiteLlmPrices(fields)) return readLiteLlmPrices(fields);
  if (isPortkeyPrices(fields)) return readPortkeyPrices(fields, basename(path, extname(path)));
  throw refuse("has neither LiteLLM's format (litellm_provider) nor Portkey's (pricing_config)");
}

/** Price of an upstream's model, or those of all models that a wildcard can reach. */
function listedPrice(
  id: string,
  { settings }: DeploymentSpec,
  list: PriceList,
): Partial<DeploymentSpec["routingOptions"]> {
  const { baseUrl, model = "*" } = (settings ?? {}) as { baseUrl?: string; model?: string };
  const provider = baseUrl === undefined ? undefined : providerOf(baseUrl);
  if (provider === undefined) return {};
  if (!id.endsWith("/*")) return { price: list.find(provider, model === "*" ? id : model) ?? NO_PRICE };
  const [before = "", after = ""] = model.split("*");
  const prefix = id.slice(0, -1);
  const wildcardPrices: Record<string, Price> = {};
  for (const [name, price] of list.of(provider)) {
    const rest = name.slice(before.length, name.length - after.length);
    if (model.includes("*") && name === `${before}${rest}${after}` && rest !== "")
      wildcardPrices[prefix + rest] = price;
    else if (name === model) return { price };
  }
  return Object.keys(wildcardPrices).length === 0 ? {} : { wildcardPrices };
}
