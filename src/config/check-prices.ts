import type { Price } from "../contracts/price.ts";
import type { ConfigErrors, Path } from "./config-errors.ts";
import type { ParsedFile } from "./parse-file.ts";

/** Reports prices in a currency without an exchange rate. */
export function checkPrices({ file, deployments }: ParsedFile, errors: ConfigErrors): void {
  if (file === undefined) return;
  const { exchangeRates } = file.prices;
  const check = (price: Price | undefined, path: Path) => {
    const currency = price?.currency;
    if (currency === undefined || Object.hasOwn(exchangeRates, currency)) return;
    errors.add(
      [...path, "currency"],
      `has no rate; add the US dollars for one ${currency} to prices.exchange_rates, such as ${currency}: "1.08"`,
    );
  };
  for (const [m, { price, batchPrice }] of file.models.entries()) {
    check(price, ["models", m, "price"]);
    check(batchPrice, ["models", m, "batch_price"]);
    for (const [d, deployment] of (deployments[m] ?? []).entries())
      check(deployment.price, ["models", m, "deployments", d, "price"]);
  }
}
