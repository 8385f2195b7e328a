/** A whole `chat.completion` in OpenAI's format. */
export interface WireCompletion {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The same as JSON: an upstream's own, so that numbers too stay as it wrote them. */
  readonly json: string;
}

export function toWireCompletion(fields: Readonly<Record<string, unknown>>): WireCompletion {
  return { fields, json: JSON.stringify(fields) };
}
