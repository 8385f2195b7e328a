/** Documents and recordings within requests, in each of the formats, which become texts for models that read only those. */

type Fields = Record<string, unknown>;

export interface MediaPart {
  kind: "document" | "audio";
  /** Base64. */
  data: string;
  filename: string;
  /** Path of the part's type in the caller's body. */
  param: string;
}

const DATA_URL = /^data:[^,]{0,200};base64,/;
/** Parts within results of tools. */
const MAX_DEPTH = 3;

/** Whether messages or items contain a document or a recording, or refer to a document. */
export function hasMedia(entries: unknown): boolean {
  return Array.isArray(entries) && entries.some((entry) => partsOf(entry).some((part) => isMedia(part, 0)));
}

/** Returns the entries with a text in place of each document and recording. Does not change `entries`. */
export async function withMediaTexts<Entries>(
  entries: Entries,
  path: string,
  read: (media: MediaPart) => Promise<string>,
): Promise<Entries> {
  return (await mapList(entries, path, async (entry, at) => {
    if (!isFields(entry)) return entry;
    const content = await mapParts(entry.content, `${at}.content`, read, 0);
    const output = await mapParts(entry.output, `${at}.output`, read, 0);
    return { ...entry, ...(content !== undefined && { content }), ...(output !== undefined && { output }) };
  })) as Entries;
}

function partsOf(entry: unknown): unknown[] {
  if (!isFields(entry)) return [];
  return [entry.content, entry.output].filter(Array.isArray).flat();
}

function isMedia(part: unknown, depth: number): boolean {
  if (!isFields(part)) return false;
  if (part.type === "input_audio" || part.type === "file" || part.type === "input_file") return true;
  if (part.type === "document") return isFields(part.source) && part.source.type !== "text";
  return depth < MAX_DEPTH && partsOf(part).some((inner) => isMedia(inner, depth + 1));
}

function mapParts(
  content: unknown,
  path: string,
  read: (media: MediaPart) => Promise<string>,
  depth: number,
): Promise<unknown> {
  return mapList(content, path, async (part, at) => {
    if (!isFields(part)) return part;
    const media = toMedia(part, `${at}.type`);
    if (media !== undefined)
      return { type: part.type === "input_file" ? "input_text" : "text", text: await read(media) };
    if (depth === MAX_DEPTH || !Array.isArray(part.content)) return part;
    return { ...part, content: await mapParts(part.content, `${at}.content`, read, depth + 1) };
  });
}

async function mapList(
  list: unknown,
  path: string,
  map: (each: unknown, path: string) => Promise<unknown>,
): Promise<unknown> {
  if (!Array.isArray(list)) return list;
  const mapped: unknown[] = [];
  // One after the other: each waits for a process or a model.
  for (const [index, each] of list.entries()) mapped.push(await map(each, `${path}[${index}]`));
  return mapped;
}

/** Returns undefined for other parts, and for what is not in the request itself. */
function toMedia(part: Fields, param: string): MediaPart | undefined {
  switch (part.type) {
    case "input_audio": {
      const { data, format } = fieldsOf(part.input_audio);
      if (typeof data !== "string" || data === "") return undefined;
      const filename = `audio.${typeof format === "string" ? format : "wav"}`;
      return { kind: "audio", data: withoutHead(data) ?? data, filename, param };
    }
    case "file":
      return toDocument(fieldsOf(part.file), param);
    case "input_file":
      return toDocument(part, param);
    case "document": {
      const { type, data } = fieldsOf(part.source);
      if (type !== "base64" || typeof data !== "string") return undefined;
      return { kind: "document", data, filename: nameOf(part.title), param };
    }
    default:
      return undefined;
  }
}

function toDocument({ file_data: url, filename }: Fields, param: string): MediaPart | undefined {
  const data = typeof url === "string" ? withoutHead(url) : undefined;
  return data === undefined ? undefined : { kind: "document", data, filename: nameOf(filename), param };
}

function withoutHead(url: string): string | undefined {
  const head = DATA_URL.exec(url.slice(0, 300))?.[0];
  return head === undefined ? undefined : url.slice(head.length);
}

function nameOf(name: unknown): string {
  return typeof name === "string" ? name : "";
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
