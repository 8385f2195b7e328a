import { z } from "zod";
import { invalidRequest, unsupportedValue } from "../../../kernel/faults.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { AuditLog } from "../../openapi/organization-answers.ts";
import { PAGE_QUERY, queryNumber, toSeconds } from "./organization-list.ts";

const MAX_VALUES = 100;
const MAX_LENGTH = 256;

/** Schema of a repeatable parameter: a single value is a string, several are an array. */
const values = z
  .preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    z.array(z.string().max(MAX_LENGTH)).max(MAX_VALUES),
  )
  .optional();
const unixSeconds = queryNumber(z.int().min(0)).optional();

const TIME_BOUNDS = ["gt", "gte", "lt", "lte"] as const;
const LISTS = ["event_types", "project_ids", "actor_ids", "actor_emails", "resource_ids"] as const;

/** Query parameters; names of arrays may end in brackets. */
export const AuditLogListQuery = z.strictObject({
  ...PAGE_QUERY,
  before: z.string().min(1).optional(),
  ...Object.fromEntries(LISTS.flatMap((list) => [list, `${list}[]`]).map((name) => [name, values])),
  ...Object.fromEntries(TIME_BOUNDS.map((bound) => [`effective_at[${bound}]`, unixSeconds])),
} as {
  after: typeof PAGE_QUERY.after;
  before: z.ZodOptional<z.ZodString>;
  limit: typeof PAGE_QUERY.limit;
} & Record<`${(typeof LISTS)[number]}${"" | "[]"}`, typeof values> &
  Record<`effective_at[${(typeof TIME_BOUNDS)[number]}]`, typeof unixSeconds>);

type Query = z.output<typeof AuditLogListQuery>;

/**
 * Converts the bounds to milliseconds, `from` inclusive and `until` exclusive. Throws a Fault for unsupported filters.
 */
export function toAuditLogFilter(query: Query) {
  if (query.after !== undefined && query.before !== undefined) {
    throw invalidRequest("'after' and 'before' cannot be used together.", "before", "invalid_value");
  }
  const list = (name: (typeof LISTS)[number]) => query[name] ?? query[`${name}[]`];
  if (list("actor_emails") !== undefined) {
    throw unsupportedValue(
      "'actor_emails' is not supported: actors are API keys, which have no email address. Use 'actor_ids'.",
      "actor_emails",
    );
  }
  // Bounds have whole seconds: `gt` and `lte` refer to the end of theirs.
  const from = [query["effective_at[gte]"], plusOne(query["effective_at[gt]"])].filter((bound) => bound !== undefined);
  const until = [query["effective_at[lt]"], plusOne(query["effective_at[lte]"])].filter((bound) => bound !== undefined);
  return {
    types: list("event_types"),
    projectIds: list("project_ids"),
    actorIds: list("actor_ids"),
    resourceIds: list("resource_ids"),
    from: from.length === 0 ? undefined : Math.max(...from) * 1000,
    until: until.length === 0 ? undefined : Math.min(...until) * 1000,
  };
}

interface AuditEntry {
  id: string;
  effectiveAt: number;
  type: string;
  actorKeyId: string | null;
  actorUserId: string | null;
  ipAddress: string | null;
  userAgent: string | null;
  projectId: string | null;
  projectName: string | null;
  resourceId: string;
  details: Readonly<Record<string, unknown>>;
}

/** `emailOf`: address of a user, unless the user was removed. */
export function toAuditLog(
  entry: AuditEntry,
  emailOf: (userId: string) => string | undefined,
): AnswerOf<typeof AuditLog> {
  const { projectId, projectName } = entry;
  return {
    id: entry.id,
    object: "organization.audit_log" as const,
    type: entry.type,
    effective_at: toSeconds(entry.effectiveAt),
    ...(projectId !== null && { project: { id: projectId, name: projectName } }),
    actor: toActor(entry, emailOf),
    [entry.type]: { id: entry.resourceId, ...toDetails(entry.type, entry.details) },
  };
}

function toActor(
  { actorKeyId, actorUserId, ipAddress, userAgent }: AuditEntry,
  emailOf: (userId: string) => string | undefined,
) {
  const session = { ip_address: ipAddress, user_agent: userAgent };
  const user = actorUserId === null ? undefined : { id: actorUserId, email: emailOf(actorUserId) ?? null };
  // Commands of the operator use no key; a signed-in user acts with a session.
  if (actorKeyId === null || isSessionId(actorKeyId)) {
    return { type: "session" as const, session: { ...session, user: user ?? { id: "operator" } } };
  }
  return {
    type: "api_key" as const,
    api_key: { id: actorKeyId, type: "user" as const, ...(user && { user }) },
    session,
  };
}

function toDetails(type: string, details: Readonly<Record<string, unknown>>) {
  const shown = toSnakeCase(details) as Record<string, unknown>;
  if (Object.keys(shown).length === 0) return {};
  // OpenAI's events call a project's name `title`.
  if (type.startsWith("project.") && "name" in shown) shown.title = shown.name;
  return type.endsWith(".updated") ? { changes_requested: shown } : { data: shown };
}

function toSnakeCase(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const isTime = name.endsWith("At") && typeof inner === "number";
      return [
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        isTime ? toSeconds(inner) : toSnakeCase(inner),
      ];
    }),
  );
}

function plusOne(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds + 1;
}

/** Whether the ID of an author is that of a signed-in user's session, rather than of a key. */
export function isSessionId(id: string): boolean {
  return id.startsWith("session_");
}
