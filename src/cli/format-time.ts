/** Formats epoch milliseconds as a UTC timestamp; null becomes `otherwise`. */
export function formatTime(time: number | null, otherwise = ""): string {
  return time === null ? otherwise : `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Converts epoch milliseconds to Unix seconds. */
export function toUnixSeconds(time: number | null): number | null {
  return time === null ? null : Math.floor(time / 1000);
}
