/** Reads what a request belongs to: end user, tags and session. */

import type { IncomingHttpHeaders } from "node:http";
import type { LabelReader } from "../../http/label-requests.ts";
import type { LabelSettings } from "./settings.ts";

const MAX_LENGTH = 128;
const MAX_TAGS = 10;

type Fields = Readonly<Record<string, unknown>>;

/** Undefined when no labels are recorded. */
export function labelReader(settings: LabelSettings): LabelReader | undefined {
  const { endUsers, endUserHeader, tagHeader, tagMetadata, sessionHeader } = settings;
  const reads = endUsers || tagHeader !== undefined || tagMetadata.length > 0 || sessionHeader !== undefined;
  if (!reads) return undefined;
  return (headers, body) => {
    const fields = fieldsOf(body);
    const metadata = fieldsOf(fields.metadata);
    // Anthropic has the user in `metadata`.
    const user = fields.safety_identifier ?? fields.user ?? metadata.user_id;
    const endUser = endUsers ? (toLabel(headerOf(headers, endUserHeader)) ?? toLabel(user)) : undefined;
    const tags = tagsOf(headerOf(headers, tagHeader), metadata, tagMetadata);
    const session = toLabel(headerOf(headers, sessionHeader)) ?? toLabel(metadata.session_id);
    if (endUser === undefined && tags === undefined && session === undefined) return undefined;
    return { endUser, tags, session };
  };
}

/** Tags of the header, between commas, and `key:value` of the metadata; undefined without any. */
function tagsOf(header: string | undefined, metadata: Fields, keys: readonly string[]): string[] | undefined {
  const sent = header?.split(",") ?? [];
  const labels = keys.flatMap((key) => {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    return typeof value === "string" && value !== "" ? [`${key}:${value}`] : [];
  });
  const tags = [...new Set([...sent, ...labels].flatMap((tag) => toLabel(tag) ?? []))].slice(0, MAX_TAGS);
  return tags.length === 0 ? undefined : tags;
}

/** PostgreSQL refuses text with NUL (SQLSTATE 22021). */
function toLabel(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const label = value.replaceAll("\0", "").trim().slice(0, MAX_LENGTH);
  return label === "" ? undefined : label;
}

function headerOf(headers: IncomingHttpHeaders, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : headers[name];
  return Array.isArray(value) ? value.join(",") : value;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
