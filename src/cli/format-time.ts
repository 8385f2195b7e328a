/** Epoch milliseconds for people, in UTC; `otherwise` for what has not happened. */
export function formatTime(time: number | null, otherwise = ""): string {
  return time === null ? otherwise : `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Epoch milliseconds for programs. */
export function toUnixSeconds(time: number | null): number | null {
  return time === null ? null : Math.floor(time / 1000);
}
