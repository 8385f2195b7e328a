/** Numbers, money and times as people read them, all in the browser's language. */

const LOCALE: string | undefined = globalThis.navigator?.language;

const NUMBER = new Intl.NumberFormat(LOCALE);
const COMPACT = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat(LOCALE, { style: "percent", maximumSignificantDigits: 3 });
const USD = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
const CENTS = new Intl.NumberFormat(LOCALE, USD);
const DOLLARS = new Intl.NumberFormat(LOCALE, { ...USD, maximumFractionDigits: 0 });
const FRACTIONS = new Intl.NumberFormat(LOCALE, { ...USD, maximumSignificantDigits: 2 });
const TIME = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const TIME_OF_DAY = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });
const DATE_TIME = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
const DATE = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium" });
const RELATIVE = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });
const FIXED = [0, 1, 2, 3].map(
  (digits) => new Intl.NumberFormat(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

export function formatNumber(value: number): string {
  return NUMBER.format(value);
}

export function formatCompact(value: number): string {
  return COMPACT.format(value);
}

/** A number with a fixed count of decimals, 0 to 3. */
function formatFixed(value: number, digits: number): string {
  return (FIXED[digits] ?? NUMBER).format(value);
}

/** A number of at most one decimal, which large ones lack. */
export function formatDecimal(value: number): string {
  return formatFixed(value, value === 0 || value >= 100 ? 0 : 1);
}

/** A part of 1 as `12.3 %`. */
export function formatPercent(share: number): string {
  return PERCENT.format(share);
}

/** US dollars; costs of single requests are fractions of a cent. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return DOLLARS.format(0);
  if (dollars < 0.01) return FRACTIONS.format(dollars);
  return (dollars < 100 ? CENTS : DOLLARS).format(dollars);
}

/** A cost whose model may have no price, which is not a price of zero. */
export function formatMaybeCost(dollars: number | null): string {
  return dollars === null ? "No price" : formatCost(dollars);
}

export function formatSeconds(seconds: number): string {
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return "< 1 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${formatFixed(seconds, seconds < 10 ? 2 : 1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${NUMBER.format(Math.floor(seconds / 3600))} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function formatMilliseconds(milliseconds: number): string {
  return formatSeconds(milliseconds / 1000);
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${formatFixed(value, value >= 100 || power === 0 ? 0 : 1)} ${units[power]}`;
}

export function formatTime(seconds: number): string {
  return TIME.format(seconds * 1000);
}

export function formatTimeOfDay(seconds: number): string {
  return TIME_OF_DAY.format(seconds * 1000);
}

export function formatDateTime(seconds: number): string {
  return DATE_TIME.format(seconds * 1000);
}

export function formatDate(seconds: number): string {
  return DATE.format(seconds * 1000);
}

/** `3 minutes ago`; a date after a month. */
export function formatAgo(seconds: number, now = Date.now() / 1000): string {
  const age = now - seconds;
  if (age < 45) return RELATIVE.format(0, "second");
  if (age < 45 * 60) return RELATIVE.format(-Math.round(age / 60), "minute");
  if (age < 22 * 3600) return RELATIVE.format(-Math.round(age / 3600), "hour");
  if (age < 30 * 86_400) return RELATIVE.format(-Math.round(age / 86_400), "day");
  return formatDate(seconds);
}
