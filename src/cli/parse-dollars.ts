/** Returns US cents of an amount such as `5` or `2.50`; undefined for another text. */
export function parseDollars(text: string): number | undefined {
  const [, dollars, cents = ""] = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  return dollars === undefined ? undefined : Number(dollars) * 100 + Number(cents.padEnd(2, "0"));
}
