/** A usage record holds no more. */
const MAX_TOKENS = 2 ** 31 - 1;

/** Returns a number of tokens; undefined for anything else. */
export function toCount(value: unknown): number | undefined {
  const isCount = Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS;
  return isCount ? (value as number) : undefined;
}
