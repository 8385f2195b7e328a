/** Documents, recordings and images within requests, in each of the formats, which become texts for models that read only those. */

type Fields = Record<string, unknown>;

export type MediaKind = "document" | "audio" | "image";

export interface MediaPart {
  kind: MediaKind;
  /** Base64. */
  data: string;
  filename: string;
  /** Path of the part's type in the caller's body. */
  param: string;
}

/** Resolves with undefined for a part that stays as it is. */
export type ReadMedia = (media: MediaPart) => Promise<string | undefined>;

const IMAGE_TYPES: ReadonlySet<unknown> = new Set(["image_url", "input_image", "image"]);
/** Parts of the Responses API, whose texts have their own type. */
const RESPONSES_TYPES: ReadonlySet<unknown> = new Set(["input_file", "input_image"]);
const DATA_URL = /^data:[^,]{0,200};base64,/;
/** Parts within results of tools. */
const MAX_DEPTH = 3;

/** Whether messages or items contain a document or a recording, or refer to a document. */
export function hasMedia(entries: unknown): boolean {
  return hasPart(entries, isMedia);
}

/** Whether messages or items contain an image, or refer to one. */
export function hasImages(entries: unknown): boolean {
  return hasPart(entries, ({ type }) => IMAGE_TYPES.has(type));
}

/** Returns the entries with a text in place of each part that `read` returns one for. Does not change `entries`. */
export async function withMediaTexts<Entries>(entries: Entries, path: string, read: ReadMedia): Promise<Entries> {
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

function hasPart(entries: unknown, isWanted: (part: Fields) => boolean): boolean {
  const isIn = (part: unknown, depth: number): boolean =>
    isFields(part) && (isWanted(part) || (depth < MAX_DEPTH && partsOf(part).some((inner) => isIn(inner, depth + 1))));
  return Array.isArray(entries) && entries.some((entry) => partsOf(entry).some((part) => isIn(part, 0)));
}

function isMedia({ type, source }: Fields): boolean {
  if (type === "document") return isFields(source) && source.type !== "text";
  return type === "input_audio" || type === "file" || type === "input_file";
}

function mapParts(content: unknown, path: string, read: ReadMedia, depth: number): Promise<unknown> {
  return mapList(content, path, async (part, at) => {
    if (!isFields(part)) return part;
    const media = toMedia(part, `${at}.type`);
    const text = media === undefined ? undefined : await read(media);
    if (text !== undefined) return { type: RESPONSES_TYPES.has(part.type) ? "input_text" : "text", text };
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
    case "image_url":
      return toImage(fieldsOf(part.image_url).url, param);
    case "input_image":
      return toImage(part.image_url, param);
    case "image": {
      const { type, data } = fieldsOf(part.source);
      return type === "base64" && typeof data === "string" ? { kind: "image", data, filename: "", param } : undefined;
    }
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

function toImage(url: unknown, param: string): MediaPart | undefined {
  const data = typeof url === "string" ? withoutHead(url) : undefined;
  return data === undefined ? undefined : { kind: "image", data, filename: "", param };
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
