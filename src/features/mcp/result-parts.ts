/** What a server wrote into a result: the texts that are read as such, and all that is beside them. */

import type { CallToolResult, CompleteResult, GetPromptResult, ReadResourceResult } from "./mcp-connection.ts";

type Fields = Readonly<Record<string, unknown>>;
type Block = NonNullable<CallToolResult["content"]>[number];
type Resource = ReadResourceResult["contents"][number];

export interface Parts<Value> {
  texts: readonly string[];
  /** Every other field, such as titles, icons and `_meta`, as an object of JSON. */
  others: Fields;
  /** `next`: returns the texts in their order. `others`: an object like the one above, which may lack fields. */
  join(next: () => string, others: Fields): Value;
}

interface Division {
  /** Fields that are texts. */
  read?: readonly string[];
  /** Fields without a text: the kind of a block, and bytes, which `unreadable` is about. */
  kept?: readonly string[];
  inner?: Readonly<Record<string, Parts<unknown>>>;
}

export function partsOfToolResult(result: CallToolResult): Parts<CallToolResult> {
  return divide(result, { kept: ["isError"], inner: { content: list(result.content ?? [], partsOfBlock) } });
}

export function partsOfPrompt(result: GetPromptResult): Parts<GetPromptResult> {
  const messages = list(result.messages, (message) =>
    divide(message, { kept: ["role"], inner: { content: partsOfBlock(message.content) } }),
  );
  return divide(result, { read: ["description"], inner: { messages } });
}

export function partsOfContents(result: ReadResourceResult): Parts<ReadResourceResult> {
  return divide(result, { inner: { contents: list(result.contents, partsOfResource) } });
}

export function partsOfCompletion(result: CompleteResult): Parts<CompleteResult> {
  const values = list(result.completion.values, (text) => ({ texts: [text], others: {}, join: (next) => next() }));
  const completion = divide(result.completion, { kept: ["total", "hasMore"], inner: { values } });
  return divide(result, { inner: { completion } });
}

function partsOfBlock(block: Block): Parts<Block> {
  const kept = ["type"];
  switch (block.type) {
    case "text":
      return divide(block, { kept, read: ["text"] });
    case "image":
    case "audio":
      return divide(block, { kept: [...kept, "data"] });
    case "resource_link":
      return divide(block, { kept, read: ["name", "uri", "description"] });
    case "resource":
      return divide(block, { kept, inner: { resource: partsOfResource(block.resource) } });
    default:
      return divide(block, { kept });
  }
}

function partsOfResource(resource: Resource): Parts<Resource> {
  const division = "text" in resource ? { read: ["uri", "text"] } : { read: ["uri"], kept: ["blob"] };
  return divide(resource, division);
}

function divide<Value extends object>(value: Value, { read = [], kept = [], inner = {} }: Division): Parts<Value> {
  const fields = value as Fields;
  const names = read.filter((name) => typeof fields[name] === "string");
  const isOther = (name: string) => !names.includes(name) && !kept.includes(name) && inner[name] === undefined;
  const others = Object.entries(fields).filter(([name, field]) => field !== undefined && isOther(name));
  const innerParts = Object.entries(inner);
  return {
    texts: [...names.map((name) => String(fields[name])), ...innerParts.flatMap(([, { texts }]) => texts)],
    others: Object.fromEntries([...others, ...innerParts.flatMap(([name, part]) => entryOf(name, part))]),
    join: (next, replaced) => {
      const bytes = kept.flatMap((name) => (name in fields ? [[name, fields[name]]] : []));
      const texts = names.map((name) => [name, next()]);
      const joined = innerParts.map(([name, part]) => [name, part.join(next, fieldsOf(replaced[name]))]);
      return { ...replaced, ...Object.fromEntries([...bytes, ...texts, ...joined]) } as Value;
    },
  };
}

function list<Item>(items: readonly Item[], partsOfItem: (item: Item) => Parts<Item>): Parts<Item[]> {
  const parts = items.map(partsOfItem);
  return {
    texts: parts.flatMap(({ texts }) => texts),
    others: Object.fromEntries(parts.flatMap((part, index) => entryOf(String(index), part))),
    join: (next, others) => parts.map((part, index) => part.join(next, fieldsOf(others[index]))),
  };
}

/** Nothing for parts whose texts are all that they have. */
function entryOf(name: string, { others }: Parts<unknown>): [string, Fields][] {
  return Object.keys(others).length === 0 ? [] : [[name, others]];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
