/** Reads what a request belongs to: end user, tags and session. */

import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../../contracts/caller.ts";
import type { LabelReader } from "../../http/label-requests.ts";
import { OTHER_LABELS } from "./label-limits.ts";
import type { LabelSettings } from "./settings.ts";

const MAX_LENGTH = 128;
const MAX_TAGS = 10;

type Fields = Readonly<Record<string, unknown>>;

/** Undefined when no labels are recorded. `isBudgeted`: a tag that counts however many precede it. */
export function labelReader(
  settings: LabelSettings,
  isBudgeted: (caller: Caller, tag: string) => boolean,
): LabelReader | undefined {
  const { endUsers, endUserHeader, tagHeader, tagMetadata, sessionHeader } = settings;
  const reads = endUsers || tagHeader !== undefined || tagMetadata.length > 0 || sessionHeader !== undefined;
  if (!reads) return undefined;
  return (headers, body, caller) => {
    const fields = fieldsOf(body);
    const metadata = fieldsOf(fields.metadata);
    // Anthropic has the user in `metadata`.
    const user = fields.safety_identifier ?? fields.user ?? metadata.user_id;
    const endUser = endUsers ? (toLabel(headerOf(headers, endUserHeader)) ?? toLabel(user)) : undefined;
    const sent = tagsOf(headerOf(headers, tagHeader), metadata, tagMetadata);
    const tags = bound(sent, (tag) => isBudgeted(caller, tag));
    const session = toLabel(headerOf(headers, sessionHeader)) ?? toLabel(metadata.session_id);
    if (endUser === undefined && tags === undefined && session === undefined) return undefined;
    return { endUser, tags, session };
  };
}

/** Tags of the header, between commas, and `key:value` of the metadata. */
function tagsOf(header: string | undefined, metadata: Fields, keys: readonly string[]): string[] {
  const sent = header?.split(",") ?? [];
  const labels = keys.flatMap((key) => {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    return typeof value === "string" && value !== "" ? [`${key}:${value}`] : [];
  });
  return [...new Set([...sent, ...labels].flatMap((tag) => toLabel(tag) ?? []))];
}

/** The first tags and those with a budget; one stands for all others. Undefined without any. */
function bound(tags: readonly string[], isBudgeted: (tag: string) => boolean): readonly string[] | undefined {
  if (tags.length <= MAX_TAGS) return tags.length === 0 ? undefined : tags;
  const budgeted = tags.slice(MAX_TAGS).filter(isBudgeted);
  const hasOthers = MAX_TAGS + budgeted.length < tags.length;
  return [...new Set([...tags.slice(0, MAX_TAGS), ...budgeted, ...(hasOthers ? [OTHER_LABELS] : [])])];
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
