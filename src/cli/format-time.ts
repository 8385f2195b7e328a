/** Formats Unix seconds as a UTC timestamp; null becomes `otherwise`. */
export function formatTime(seconds: number | null, otherwise = ""): string {
  return seconds === null ? otherwise : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
