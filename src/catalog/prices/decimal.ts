/** Digits after the point that a price may have. */
const MAX_DIGITS = 15;

/**
 * Writes a number of a price list as a decimal without an exponent, multiplied by 10 to the power of `shift`. The
 * shortest notation of the number counts, so that 1.9e-8 stays exact. Undefined for anything that is no price.
 */
export function toDecimal(value: unknown, shift = 0): string | undefined {
  if (typeof value !== "number" || !(value >= 0 && value < 1e6)) return undefined;
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [integer = "", fraction = ""] = mantissa.split(".");
  const point = integer.length + Number(exponent) + shift;
  const digits = integer + fraction;
  const padded = point <= 0 ? "0".repeat(1 - point) + digits : digits.padEnd(point, "0");
  const end = Math.max(1, point);
  return round(padded.slice(0, end), padded.slice(end));
}

function round(integer: string, fraction: string): string | undefined {
  const digits = fraction.slice(0, MAX_DIGITS).padEnd(MAX_DIGITS, "0");
  const rounded = BigInt(integer + digits) + (Number(fraction[MAX_DIGITS] ?? 0) >= 5 ? 1n : 0n);
  const all = String(rounded).padStart(MAX_DIGITS + 1, "0");
  const whole = all.slice(0, -MAX_DIGITS);
  const rest = all.slice(-MAX_DIGITS).replace(/0+$/, "");
  if (whole.length > 6) return undefined;
  return rest === "" ? whole : `${whole}.${rest}`;
}
