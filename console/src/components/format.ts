/** Numbers and times as people read them. */

const NUMBER = new Intl.NumberFormat("en-US");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const TIME_OF_DAY = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export function formatNumber(value: number): string {
  return NUMBER.format(value);
}

export function formatCompact(value: number): string {
  return COMPACT.format(value);
}

/** US dollars; costs of single requests are fractions of a cent. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.01) return `$${dollars.toPrecision(2)}`;
  return `$${dollars < 100 ? dollars.toFixed(2) : NUMBER.format(Math.round(dollars))}`;
}

export function formatSeconds(seconds: number): string {
  if (seconds === 0) return "0 s";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${NUMBER.format(Math.floor(seconds / 3600))} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function formatMilliseconds(milliseconds: number): string {
  return formatSeconds(milliseconds / 1000);
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
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

const RELATIVE = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" });

/** `3 minutes ago`; a date after a month. */
export function formatAgo(seconds: number, now = Date.now() / 1000): string {
  const age = now - seconds;
  if (age < 45) return "just now";
  if (age < 45 * 60) return RELATIVE.format(-Math.round(age / 60), "minute");
  if (age < 22 * 3600) return RELATIVE.format(-Math.round(age / 3600), "hour");
  if (age < 30 * 86_400) return RELATIVE.format(-Math.round(age / 86_400), "day");
  return formatDate(seconds);
}
