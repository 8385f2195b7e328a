/** Replaces a client's texts by this project's, so that recordings hold no prompt of somebody else. */

const FILLER =
  "The recorder of Parlance wrote this sentence in the place of a text that a client sent, and it has the same length. ";

/** Keys whose strings are part of the protocol: types, names, ids and choices from a fixed list. */
const PROTOCOL_KEYS = new Set([
  ...[
    "role",
    "type",
    "model",
    "name",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "object",
    "status",
    "format",
    "$ref",
    "$schema",
  ],
  ...["tool_choice", "reasoning_effort", "effort", "service_tier", "verbosity", "truncation", "summary", "detail"],
  ...["voice", "response_format", "stream_format", "encoding_format", "finish_reason", "language", "keep_alive"],
  ...[
    "required",
    "enum",
    "include",
    "modalities",
    "timestamp_granularities",
    "const",
    "pattern",
    "mode",
    "responseMimeType",
  ],
]);

/** Replaces every string that is not part of the protocol. Numbers, types and the order of fields stay. */
export function replaceTexts(value: unknown, key = ""): unknown {
  if (typeof value === "string") return PROTOCOL_KEYS.has(key) ? value : replaceText(value);
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, replaceTexts(child, name)]));
}

/** Returns text of the same size in the body. Data URLs keep their type, and JSON in a string stays JSON. */
export function replaceText(text: string): string {
  const [, prefix, data] = /^(data:[^,]{1,100},)(.*)$/s.exec(text) ?? [];
  if (prefix !== undefined && data !== undefined) return prefix + fill("A", data.length);
  const parsed = parseObject(text);
  if (parsed !== undefined) return JSON.stringify(replaceTexts(parsed));
  return fill(FILLER, Buffer.byteLength(JSON.stringify(text)) - 2);
}

function fill(filler: string, length: number): string {
  return filler.repeat(Math.ceil(length / filler.length)).slice(0, length);
}

/** Arguments of a tool call are JSON in a string. */
function parseObject(text: string): object | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
