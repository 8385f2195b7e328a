/** Rewrites the strings and numbers of a JSON text and leaves everything else as it is written. */

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

export function isJsonDocument(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Values of a JSON text, decoded, in order; keys are values too. */
export function jsonValues(json: string): string[] {
  return [...json.matchAll(TOKEN)].map(([token]) => decode(token));
}

/** Returns the text with `values`, in the order of `jsonValues`, in place of its own. A number that changes becomes a string. */
export function withJsonValues(json: string, values: readonly string[]): string {
  let index = 0;
  return json.replace(TOKEN, (token) => {
    const value = values[index] ?? "";
    index += 1;
    return value === decode(token) ? token : JSON.stringify(value);
  });
}

function decode(token: string): string {
  return token.startsWith('"') ? (JSON.parse(token) as string) : token;
}
