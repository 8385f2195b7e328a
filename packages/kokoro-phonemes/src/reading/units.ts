/** Names of units and currencies in each language, from the locale data of the JavaScript engine. */

/** Units that Intl knows, by their symbols after a number. */
export const UNIT_SYMBOLS: Readonly<Record<string, string>> = {
  "%": "percent",
  "°C": "celsius",
  "°F": "fahrenheit",
  "km/h": "kilometer-per-hour",
  km: "kilometer",
  cm: "centimeter",
  mm: "millimeter",
  m: "meter",
  kg: "kilogram",
  mg: "milligram",
  g: "gram",
  ml: "milliliter",
  mL: "milliliter",
  l: "liter",
  L: "liter",
  ha: "hectare",
  GB: "gigabyte",
  MB: "megabyte",
  TB: "terabyte",
  kB: "kilobyte",
  min: "minute",
  s: "second",
  h: "hour",
};

/** Returns the name of a unit in the form that fits the number. */
export function unitName(locale: string, symbol: string, value: number): string {
  const unit = UNIT_SYMBOLS[symbol] ?? "";
  const parts = new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).formatToParts(value);
  return parts
    .filter(({ type }) => type === "unit" || type === "percentSign")
    .map((part) => part.value)
    .join(" ");
}

/** Returns the common name of a currency, such as "dólares", without its country. */
export function currencyName(locale: string, currency: string, value: number): string {
  const format = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    currencyDisplay: "name",
    maximumFractionDigits: 0,
  });
  const name = format.formatToParts(value).find(({ type }) => type === "currency")?.value ?? currency;
  return /^\p{Script=Latin}/u.test(name) ? (name.toLowerCase().split(" ")[0] ?? name) : name;
}
