/** Images and files of requests as providers take them. */

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,/;

export interface InlineData {
  mediaType: string;
  /** Base64. */
  data: string;
}

/** Returns the content of a data URL; undefined for another address. */
export function inlineData(url: string): InlineData | undefined {
  const [head, mediaType] = DATA_URL.exec(url.slice(0, 300)) ?? [];
  return head === undefined || mediaType === undefined ? undefined : { mediaType, data: url.slice(head.length) };
}

/** Parses the arguments of a call, which formats check before; {} for anything else than an object. */
export function parseArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}
