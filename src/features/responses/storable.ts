/** Bounds what one response stores: encrypting and writing more would make other requests wait. */

export const MAX_STORED_ITEMS = 1_000;
export const MAX_STORED_CHARACTERS = 2_000_000;

/**
 * True if the input of a response is small enough to be stored, together with the fields of its envelope. Reads no
 * further than the bound.
 */
export function isStorable(input: string | readonly unknown[], envelope: object = {}): boolean {
  if (typeof input !== "string" && input.length > MAX_STORED_ITEMS) return false;
  let remaining = MAX_STORED_CHARACTERS;
  const rest: unknown[] = [input, envelope];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") remaining -= value.length;
    else if (Array.isArray(value)) for (const each of value) rest.push(each);
    else if (typeof value === "object" && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        remaining -= name.length;
        rest.push(each);
      }
    } else remaining -= 1;
    if (remaining < 0) return false;
  }
  return true;
}
