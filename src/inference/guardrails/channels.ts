/** Which fields of a request hold text that leaves the service, and what guardrails take it for. */

/**
 * `prompt`: what the caller's user or a tool wrote. `instructions`: what the caller's program wrote. `structure`: a JSON
 * value, such as a schema, whose keys and numbers are text, too. `word`: what programs compare, such as the ID of a call.
 */
export type TextKind = "prompt" | "instructions" | "structure" | "word";

export type Rewrite = (text: string, kind: TextKind) => string;

/** `none`: a number, a choice from a list, or a value that the service sets or resolves. */
export type Channel<Value> = TextKind | "none" | ((value: Value, rewrite: Rewrite) => Value);

/** A decision for each field: a new field does not compile without one. */
export type Channels<Fields> = { readonly [Name in keyof Fields]-?: Channel<Exclude<Fields[Name], undefined>> };

/** Returns the fields with rewritten texts. Visits texts of equal requests in the same order. */
export function rewriteFields<Fields extends object>(
  fields: Fields,
  channels: Channels<Fields>,
  rewrite: Rewrite,
): Fields {
  const output = { ...fields };
  for (const name of Object.keys(channels) as (keyof Fields)[]) {
    const value = fields[name];
    if (value === undefined) continue;
    output[name] = rewriteValue(
      value as Exclude<Fields[typeof name], undefined>,
      channels[name],
      rewrite,
    ) as Fields[typeof name];
  }
  return output;
}

/** Channel of a list of values. */
export function each<Item>(channel: Channel<Item>): (items: readonly Item[], rewrite: Rewrite) => Item[] {
  return (items, rewrite) => items.map((item) => rewriteValue(item, channel, rewrite));
}

/** Channel of an object with fields of its own. */
export function fieldsOf<Fields extends object>(channels: Channels<Fields>) {
  return (value: Fields, rewrite: Rewrite): Fields => rewriteFields(value, channels, rewrite);
}

/** Returns texts of a request in the order in which `withTexts` takes them. */
export function textsOf<Fields extends object>(request: Fields, channels: Channels<Fields>): ChannelText[] {
  const texts: ChannelText[] = [];
  rewriteFields(request, channels, (text, kind) => {
    texts.push({ text, kind });
    return text;
  });
  return texts;
}

export interface ChannelText {
  text: string;
  kind: TextKind;
  /** Whether a model has answered it: it was judged when it was new. */
  isAnswered?: true;
}

export function withTexts<Fields extends object>(
  request: Fields,
  channels: Channels<Fields>,
  texts: readonly string[],
): Fields {
  return rewriteFields(request, channels, replacing(texts));
}

/** Returns a rewrite that puts `texts` in place of others, in order. */
export function replacing(texts: readonly string[]): Rewrite {
  let index = 0;
  return (text) => {
    const replacement = texts[index] ?? text;
    index += 1;
    return replacement;
  };
}

function rewriteValue<Value>(value: Value, channel: Channel<Value>, rewrite: Rewrite): Value {
  if (typeof channel === "function") return channel(value, rewrite);
  if (channel === "none") return value;
  if (channel === "structure") return JSON.parse(rewrite(JSON.stringify(value), "structure")) as Value;
  return typeof value === "string" ? (rewrite(value, channel) as Value) : value;
}
