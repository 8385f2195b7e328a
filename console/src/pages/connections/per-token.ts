/** Converts US dollars for a million tokens to those for one, without rounding; undefined for anything but a decimal. */
export function perToken(millionTokens: string): string | undefined {
  const match = /^(\d{1,6})(?:[.,](\d{1,9}))?$/.exec(millionTokens.trim());
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  const digits = `${whole.padStart(7, "0")}`;
  const decimals = `${digits.slice(-6)}${fraction}`.replace(/0+$/, "");
  const integer = digits.slice(0, -6).replace(/^0+(?=\d)/, "");
  return decimals === "" ? integer : `${integer}.${decimals}`;
}
