/** Images within a request or an answer: `data:image/png;base64,…`. */

const MARK = ";base64,";

/** Returns the content of a data URL of an image; undefined for any other text. */
export function base64Of(url: string): string | undefined {
  const start = url.startsWith("data:image/") ? url.indexOf(MARK) : -1;
  return start < 0 ? undefined : url.slice(start + MARK.length);
}

export function toDataUrl(base64: string, format = "png"): string {
  return `data:image/${format};base64,${base64}`;
}
