/** Numbers, money and times as people read them, by the locale of the console's language. */

import { formatNumber } from "../i18n/format-number.ts";
import { currentLocale } from "../i18n/language.ts";
import { t } from "../i18n/translate.ts";

export { formatNumber };

const USD = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
const EXACT = { ...USD, maximumFractionDigits: 12, trailingZeroDisplay: "stripIfInteger" } as const;
let formats = createFormats(currentLocale());

function createFormats(locale: string) {
  return {
    locale,
    compact: new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }),
    percent: new Intl.NumberFormat(locale, { style: "percent", maximumSignificantDigits: 3 }),
    cents: new Intl.NumberFormat(locale, USD),
    dollars: new Intl.NumberFormat(locale, { ...USD, maximumFractionDigits: 0 }),
    prices: new Map<string, Intl.NumberFormat>(),
    fractions: new Intl.NumberFormat(locale, { ...USD, maximumSignificantDigits: 2 }),
    time: new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" }),
    timeOfDay: new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" }),
    dateTime: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }),
    date: new Intl.DateTimeFormat(locale, { dateStyle: "medium" }),
    relative: new Intl.RelativeTimeFormat(locale, { numeric: "auto" }),
    languages: new Intl.DisplayNames(locale, { type: "language" }),
    fixed: [0, 1, 2, 3].map(
      (digits) => new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }),
    ),
  };
}

/** The formats of the current locale, which changes with the language. */
function localFormats() {
  if (formats.locale !== currentLocale()) formats = createFormats(currentLocale());
  return formats;
}

export function formatCompact(value: number): string {
  return localFormats().compact.format(value);
}

/** A number with a fixed count of decimals, 0 to 3. */
export function formatFixed(value: number, digits: number): string {
  return localFormats().fixed[digits]?.format(value) ?? formatNumber(value);
}

/** A number of at most one decimal, which large ones lack. */
export function formatDecimal(value: number): string {
  return formatFixed(value, value === 0 || value >= 100 ? 0 : 1);
}

/** A part of 1 as `12.3 %`. */
export function formatPercent(share: number): string {
  return localFormats().percent.format(share);
}

/** US dollars; costs of single requests are fractions of a cent. */
export function formatCost(dollars: number): string {
  const { cents, dollars: whole, fractions } = localFormats();
  if (dollars === 0) return whole.format(0);
  if (dollars < 0.01) return fractions.format(dollars);
  return (dollars < 100 ? cents : whole).format(dollars);
}

/** A price as the API writes it, not rounded, in the currency with an ISO 4217 code. */
export function formatPrice(price: string | number, currency = "USD"): string {
  const { locale, prices } = localFormats();
  const format = prices.get(currency) ?? new Intl.NumberFormat(locale, { ...EXACT, currency });
  prices.set(currency, format);
  return format.format(Number(price));
}

/** Prices are per unit, such as a token; a million of them is how they are compared. */
export function formatPerMillion(price: string, currency: string | undefined): string {
  // The product of two floating-point numbers has digits that nobody wrote.
  return formatPrice(Number((Number(price) * 1e6).toPrecision(12)), currency);
}

/** A cost whose model may have no price, which is not a price of zero. */
export function formatMaybeCost(dollars: number | null): string {
  return dollars === null ? t("No price") : formatCost(dollars);
}

export function formatSeconds(seconds: number): string {
  if (seconds === 0) return t("{{seconds}} s", { seconds: 0 });
  if (seconds < 0.001) return t("< 1 ms");
  if (seconds < 1) return t("{{milliseconds}} ms", { milliseconds: Math.round(seconds * 1000) });
  if (seconds < 60) return t("{{seconds}} s", { seconds: formatFixed(seconds, seconds < 10 ? 2 : 1) });
  if (seconds < 3600) {
    return t("{{minutes}} min {{seconds}} s", {
      minutes: Math.floor(seconds / 60),
      seconds: Math.floor(seconds % 60),
    });
  }
  return t("{{hours}} h {{minutes}} min", {
    hours: Math.floor(seconds / 3600),
    minutes: Math.floor((seconds % 3600) / 60),
  });
}

export function formatMilliseconds(milliseconds: number): string {
  return formatSeconds(milliseconds / 1000);
}

/** A size in decimal units, as the descriptions of models state it. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${formatFixed(value, value >= 100 || power === 0 ? 0 : 1)} ${units[power]}`;
}

export function formatTime(seconds: number): string {
  return localFormats().time.format(seconds * 1000);
}

export function formatTimeOfDay(seconds: number): string {
  return localFormats().timeOfDay.format(seconds * 1000);
}

export function formatDateTime(seconds: number): string {
  return localFormats().dateTime.format(seconds * 1000);
}

export function formatDate(seconds: number): string {
  return localFormats().date.format(seconds * 1000);
}

/** `3 minutes ago`; a date after a month. */
export function formatAgo(seconds: number, now = Date.now() / 1000): string {
  const age = now - seconds;
  if (age < 45) return localFormats().relative.format(0, "second");
  if (age < 45 * 60) return localFormats().relative.format(-Math.round(age / 60), "minute");
  if (age < 22 * 3600) return localFormats().relative.format(-Math.round(age / 3600), "hour");
  if (age < 30 * 86_400) return localFormats().relative.format(-Math.round(age / 86_400), "day");
  return formatDate(seconds);
}

/** `in 3 days`, for a time in Unix seconds. */
export function formatUntil(seconds: number, now = Date.now() / 1000): string {
  const remaining = Math.max(0, seconds - now);
  const { relative } = localFormats();
  if (remaining < 90 * 60) return relative.format(Math.round(remaining / 60), "minute");
  if (remaining < 36 * 3600) return relative.format(Math.round(remaining / 3600), "hour");
  return relative.format(Math.round(remaining / 86_400), "day");
}

/** Name of the language with an ISO 639 code, in the language of the console. */
export function formatLanguage(code: string): string {
  return localFormats().languages.of(code) ?? code;
}
