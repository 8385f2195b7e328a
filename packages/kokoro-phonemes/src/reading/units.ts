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

/** Formats by language and name: making one takes longer than many uses of it. */
const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string, name: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale} ${name}`;
  const format = formats.get(key) ?? new Intl.NumberFormat(locale, options);
  formats.set(key, format);
  return format;
}

/** Returns the name of a unit in the form that fits the number. */
export function unitName(locale: string, symbol: string, value: number): string {
  const unit = UNIT_SYMBOLS[symbol] ?? "";
  const parts = formatOf(locale, unit, { style: "unit", unit, unitDisplay: "long" }).formatToParts(value);
  return parts
    .filter(({ type }) => type === "unit" || type === "percentSign")
    .map((part) => part.value)
    .join(" ");
}

/** Returns the common name of a currency, such as "dólares", without its country. */
export function currencyName(locale: string, currency: string, value: number): string {
  const format = formatOf(locale, currency, {
    style: "currency",
    currency,
    currencyDisplay: "name",
    maximumFractionDigits: 0,
  });
  const name = format.formatToParts(value).find(({ type }) => type === "currency")?.value ?? currency;
  return /^\p{Script=Latin}/u.test(name) ? (name.toLowerCase().split(" ")[0] ?? name) : name;
}
