const RELATIVE = new Intl.RelativeTimeFormat(globalThis.navigator?.language, { numeric: "auto" });

/** `in 3 days`, for a time in Unix seconds. */
export function formatUntil(seconds: number, now = Date.now() / 1000): string {
  const remaining = Math.max(0, seconds - now);
  if (remaining < 90 * 60) return RELATIVE.format(Math.round(remaining / 60), "minute");
  if (remaining < 36 * 3600) return RELATIVE.format(Math.round(remaining / 3600), "hour");
  return RELATIVE.format(Math.round(remaining / 86_400), "day");
}
