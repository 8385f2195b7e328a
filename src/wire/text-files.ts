/** Text files within requests as texts, for models and guardrails that read no files. */

const TEXT = /^(?:text\/[\w.+-]+|application\/(?:json|xml|yaml|x-yaml|x-ndjson|jsonl|csv|javascript))$/;
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[\w.+-]+)*;base64,/;

type Part = Readonly<Record<string, unknown>>;

/** Returns the content with a text part in place of each text file that it contains; other files stay. */
export function withTextFiles<Content>(content: Content): Content {
  return replaceIn(content) as Content;
}

function replaceIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(replaceIn);
  if (typeof value !== "object" || value === null) return value;
  const part = value as Part;
  const text = textOf(part);
  if (text !== undefined) return { type: part.type === "input_file" ? "input_text" : "text", text };
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, replaceIn(each)]));
}

/** The file's name and content; undefined for anything but a text file. */
function textOf(part: Part): string | undefined {
  switch (part.type) {
    case "file":
      return fromFields(part.file);
    case "input_file":
      return fromFields(part);
    case "document":
      return fromSource(part);
    default:
      return undefined;
  }
}

function fromFields(fields: unknown): string | undefined {
  const { file_data: data, filename } = (fields ?? {}) as { file_data?: unknown; filename?: unknown };
  if (typeof data !== "string") return undefined;
  const [head, mediaType] = DATA_URL.exec(data.slice(0, 200)) ?? [];
  if (head === undefined || mediaType === undefined || !TEXT.test(mediaType)) return undefined;
  return named(filename, data.slice(head.length));
}

function fromSource({ title, source }: Part): string | undefined {
  const { type, media_type: mediaType, data } = (source ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== "base64" || typeof mediaType !== "string" || !TEXT.test(mediaType)) return undefined;
  return typeof data === "string" ? named(title, data) : undefined;
}

function named(name: unknown, base64: string): string {
  const text = Buffer.from(base64, "base64").toString();
  return typeof name === "string" && name !== "" ? `${name}:\n${text}` : text;
}
