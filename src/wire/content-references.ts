/**
 * Addresses and files that the content of a request refers to, in each of the formats: OpenAI's chat completions and
 * Responses, Anthropic's Messages, and the parts that vLLM and SGLang add. Finds them, and puts content in their place.
 */

/** Something that is not in the request itself. `param` is its path in the caller's body. */
export type ContentReference =
  | { kind: "file"; id: string; param: string }
  | { kind: "url"; url: string; param: string }
  /** An address or a file in a place whose meaning only the upstream knows. */
  | { kind: "opaque"; param: string };

export interface ResolvedContent {
  bytes: Buffer;
  mediaType: string;
  filename: string;
}

/** Content by the path of the reference that it replaces. */
export type ResolvedContents = ReadonlyMap<string, ResolvedContent>;

type Fields = Record<string, unknown>;
type Visit = (part: Fields, path: string) => Fields;
type Put = (part: Fields, content: ResolvedContent) => Fields;
type Located = ContentReference & { put: Put };

/** Parts whose other fields are texts, which are read and never fetched. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set([
  "text",
  "input_text",
  "output_text",
  "refusal",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "server_tool_use",
  "web_search_tool_result",
  "web_search_result",
  "web_fetch_tool_result",
  "web_fetch_result",
  "search_result",
]);
/** Parts of chat completions at vLLM, SGLang and others; `image_url` is also a field of Responses. */
const URL_FIELDS = ["image_url", "video_url", "audio_url"] as const;
/** Read as URL by lenient parsers too, such as `http:\host` and ` http://host`. */
const LOOKS_LIKE_URL = /^[\s\p{Cc}]*(?:(?:https?|ftp|file|s3|gs|az|hf|gopher):|[a-z][a-z\d+.-]*:[/\\]{2})/iu;
const IS_DATA = /^data:/i;
/** Fields that hold text, names or marks in parts of every format. */
const TEXT_FIELDS = ["type", "content", "title", "context", "filename", "name", "detail", "cache_control", "citations"];
/** Depth of the fields of a part in which addresses are looked for. */
const MAX_DEPTH = 4;

/** Finds what messages, items or content parts refer to. `path` is theirs in the body, such as `messages`. */
export function findReferences(entries: unknown, path: string): ContentReference[] {
  const references: ContentReference[] = [];
  mapEntries(entries, path, (part, at) => {
    for (const { put: _put, ...reference } of referencesOf(part, at)) references.push(reference);
    return part;
  });
  return references;
}

/** Returns the entries with content in place of its references. Does not change `entries`. */
export function withContents<Entries>(entries: Entries, path: string, contents: ResolvedContents): Entries {
  return mapEntries(entries, path, (part, at) => {
    let replaced = part;
    for (const { param, put } of referencesOf(part, at)) {
      const content = contents.get(param);
      if (content !== undefined) replaced = put(replaced, content);
    }
    return replaced;
  }) as Entries;
}

/** Finds addresses and files in the definitions of hosted tools, which upstreams connect to by themselves. */
export function findToolReferences(tools: unknown, path: "tools" | "mcp_servers"): ContentReference[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, index): ContentReference[] => {
    const at = `${path}[${index}]`;
    if (!isFields(tool)) return [];
    const field = path === "tools" ? "server_url" : "url";
    const url = tool[field];
    const container = isFields(tool.container) ? tool.container : {};
    const files = Array.isArray(container.file_ids) && container.file_ids.length > 0;
    return [
      ...(typeof url === "string" ? [{ kind: "url" as const, url, param: `${at}.${field}` }] : []),
      ...(files ? [{ kind: "opaque" as const, param: `${at}.container.file_ids` }] : []),
    ];
  });
}

function toDataUrl({ bytes, mediaType }: ResolvedContent): string {
  return `data:${mediaType};base64,${bytes.toString("base64")}`;
}

/** Maps the parts of messages and items. Other items of Responses hold addresses that were visited, such as sources. */
function mapEntries(entries: unknown, path: string, visit: Visit): unknown {
  if (!Array.isArray(entries)) return entries;
  return mapChanged(entries, (entry, index) => {
    const at = `${path}[${index}]`;
    if (!isFields(entry)) return entry;
    // An input of a moderation.
    if (entry.type === "image_url") return mapPart(entry, at, visit);
    const content = mapContent(entry.content, `${at}.content`, visit);
    const output = mapContent(entry.output, `${at}.output`, visit);
    if (content === entry.content && output === entry.output) return entry;
    return { ...entry, ...(content !== undefined && { content }), ...(output !== undefined && { output }) };
  });
}

/** Maps a list of parts, or the single part of a computer call's output. */
function mapContent(content: unknown, path: string, visit: Visit): unknown {
  if (Array.isArray(content)) {
    return mapChanged(content, (part, index) => (isFields(part) ? mapPart(part, `${path}[${index}]`, visit) : part));
  }
  return isFields(content) ? mapPart(content, path, visit) : content;
}

/** Maps a part with the parts inside it: those of Anthropic's tool results and documents. */
function mapPart(part: Fields, path: string, visit: Visit): Fields {
  let mapped = part;
  const content = mapContent(part.content, `${path}.content`, visit);
  if (content !== part.content) mapped = { ...mapped, content };
  if (isFields(part.source)) {
    const inner = mapContent(part.source.content, `${path}.source.content`, visit);
    if (inner !== part.source.content) mapped = { ...mapped, source: { ...part.source, content: inner } };
  }
  return visit(mapped, path);
}

/** Keeps the list itself when nothing changes. */
function mapChanged(list: readonly unknown[], map: (entry: unknown, index: number) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [index, entry] of list.entries()) {
    const mapped = map(entry, index);
    if (mapped === entry) continue;
    changed ??= [...list];
    changed[index] = mapped;
  }
  return changed ?? list;
}

function referencesOf(part: Fields, path: string): Located[] {
  const read = new Set<unknown>(TEXT_FIELDS);
  const references = [
    ...urlFields(part, path, read),
    ...fileUrl(part, path, read),
    ...fileId(part, path, read),
    ...chatFile(part, path, read),
    ...anthropicSource(part, path, read),
  ];
  // Upstreams go by the fields of a part, whatever its type is, but these types have texts of any kind.
  if (typeof part.type !== "string" || TEXT_TYPES.has(part.type)) return references;
  const opaque = findAddress(part, path, read, MAX_DEPTH);
  return opaque === undefined ? references : [...references, { kind: "opaque", param: opaque, put: (same) => same }];
}

/** `{ image_url: { url } }` of chat completions, and `{ image_url }` of Responses. */
function urlFields(part: Fields, path: string, read: Set<unknown>): Located[] {
  return URL_FIELDS.flatMap((field): Located[] => {
    const value = part[field];
    if (typeof value === "string") {
      read.add(field);
      const put: Put = (old, content) => ({ ...old, [field]: toDataUrl(content) });
      return remote(value, `${path}.${field}`, put);
    }
    if (!isFields(value) || typeof value.url !== "string") return [];
    read.add(field);
    const put: Put = (old, content) => ({ ...old, [field]: { ...value, url: toDataUrl(content) } });
    return remote(value.url, `${path}.${field}.url`, put);
  });
}

/** `{ type: "input_file", file_url }` of Responses. */
function fileUrl(part: Fields, path: string, read: Set<unknown>): Located[] {
  const { file_url: url } = part;
  if (typeof url !== "string") return [];
  read.add("file_url");
  return remote(url, `${path}.file_url`, ({ file_url: _url, ...others }, content) => ({
    filename: content.filename,
    ...others,
    file_data: toDataUrl(content),
  }));
}

/** `{ type: "input_file" | "input_image" | "computer_screenshot", file_id }` of Responses. */
function fileId(part: Fields, path: string, read: Set<unknown>): Located[] {
  const { file_id: id, type } = part;
  if (typeof id !== "string") return [];
  read.add("file_id");
  const param = `${path}.file_id`;
  if (type === "input_file") {
    const put: Put = ({ file_id: _id, ...others }, content) => ({
      filename: content.filename,
      ...others,
      file_data: toDataUrl(content),
    });
    return [{ kind: "file", id, param, put }];
  }
  if (type === "input_image" || type === "computer_screenshot") {
    const put: Put = ({ file_id: _id, ...others }, content) => ({ ...others, image_url: toDataUrl(content) });
    return [{ kind: "file", id, param, put }];
  }
  return [{ kind: "opaque", param, put: (same) => same }];
}

/** `{ type: "file", file: { file_id } }` of chat completions. */
function chatFile(part: Fields, path: string, read: Set<unknown>): Located[] {
  const { file } = part;
  if (!isFields(file) || typeof file.file_id !== "string") return [];
  read.add("file");
  const { file_id: id, ...others } = file;
  const put: Put = (old, content) => ({
    ...old,
    file: { filename: content.filename, ...others, file_data: toDataUrl(content) },
  });
  return [{ kind: "file", id, param: `${path}.file.file_id`, put }];
}

/** `{ source: { type: "url", url } }` and `{ source: { type: "file", file_id } }` of Messages. */
function anthropicSource(part: Fields, path: string, read: Set<unknown>): Located[] {
  const { source } = part;
  if (!isFields(source)) return [];
  const put: Put = (old, content) => ({ ...old, source: toAnthropicSource(content) });
  if (typeof source.file_id === "string") {
    read.add("source");
    return [{ kind: "file", id: source.file_id, param: `${path}.source.file_id`, put }];
  }
  if (typeof source.url !== "string") return [];
  read.add("source");
  return remote(source.url, `${path}.source.url`, put);
}

function toAnthropicSource({ bytes, mediaType }: ResolvedContent): Fields {
  if (mediaType.startsWith("text/")) return { type: "text", media_type: "text/plain", data: bytes.toString() };
  return { type: "base64", media_type: mediaType, data: bytes.toString("base64") };
}

function remote(url: string, param: string, put: Put): Located[] {
  return IS_DATA.test(url) ? [] : [{ kind: "url", url, param, put }];
}

/** Finds the path of an address in other fields, such as `video: "https://…"`; undefined without one. */
function findAddress(value: unknown, path: string, read: Set<unknown>, depth: number): string | undefined {
  if (typeof value === "string") return LOOKS_LIKE_URL.test(value) && !IS_DATA.test(value) ? path : undefined;
  if (typeof value !== "object" || value === null || depth === 0) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (depth === MAX_DEPTH && read.has(key)) continue;
    const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
    const address = findAddress(inner, at, read, depth - 1);
    if (address !== undefined) return address;
  }
  return undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
