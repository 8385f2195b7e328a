/** Whether a file begins with these bytes, in Latin 1. `?` stands for any byte. */
export function hasSignature(bytes: Buffer, signature: string): boolean {
  return [...signature].every((character, at) => character === "?" || bytes[at] === character.charCodeAt(0));
}
