import type { Answers } from "../../api/answers.ts";
import { formatCost } from "../../components/format.ts";
import { t } from "../../i18n/translate.ts";

export type AuditEvent = Answers["AuditLog"];
export type AuditType = Exclude<keyof AuditEvent, "id" | "object" | "type" | "effective_at" | "project" | "actor">;

type Fields = Readonly<Record<string, unknown>>;

interface Facts {
  /** Who did it. */
  who: string;
  /** Name of what it was done to. */
  name: string;
  fields: Fields;
  /** Name of an ID in the fields. */
  nameOf: (id: unknown) => string;
}

/** What is created, changed and deleted, as the object of a sentence. */
const OBJECTS = {
  budget: (name: string) => t("the budget {{name}}", { name }),
  eval: (name: string) => t("the eval {{name}}", { name }),
  group: (name: string) => t("the group {{name}}", { name }),
  key: (name: string) => t("the key {{name}}", { name }),
  organization: (name: string) => t("the organization {{name}}", { name }),
  project: (name: string) => t("the project {{name}}", { name }),
  prompt: (name: string) => t("the prompt {{name}}", { name }),
  role: (name: string) => t("the role {{name}}", { name }),
  skill: (name: string) => t("the skill {{name}}", { name }),
  account: (name: string) => t("the service account {{name}}", { name }),
  user: (name: string) => t("the user {{name}}", { name }),
  webhookEndpoint: (name: string) => t("the webhook endpoint {{name}}", { name }),
};

type Sentence = (facts: Facts) => string;
type ObjectName = (name: string) => string;

const created =
  (object: ObjectName): Sentence =>
  ({ who, name }) =>
    t("{{who}} created {{what}}", { who, what: object(name) });
const deleted =
  (object: ObjectName): Sentence =>
  ({ who, name }) =>
    t("{{who}} deleted {{what}}", { who, what: object(name) });
const changed =
  (object: ObjectName): Sentence =>
  ({ who, name, fields }) => {
    const what = object(name);
    const settings = Object.keys(fields).map((field) => field.replaceAll("_", " "));
    if ("spend_limit" in fields) return limitSentence(who, what, fields.spend_limit);
    if (settings.length === 1 && "name" in fields) return t("{{who}} renamed {{what}}", { who, what });
    return settings.length === 0
      ? t("{{who}} changed {{what}}", { who, what })
      : t("{{who}} changed {{what}}: {{settings}}", { who, what, settings: settings.join(", ") });
  };

/** A sentence for each type of event. */
const SENTENCES: Readonly<Record<AuditType, Sentence>> = {
  "api_key.created": created(OBJECTS.key),
  "api_key.updated": (facts) => keySentence(facts) ?? changed(OBJECTS.key)(facts),
  "api_key.deleted": ({ who, name }) => t("{{who}} revoked the key {{name}}", { who, name }),
  "budget.created": created(OBJECTS.budget),
  "budget.updated": changed(OBJECTS.budget),
  "budget.deleted": deleted(OBJECTS.budget),
  "cache.purged": ({ who }) => t("{{who}} emptied the cache of answers", { who }),
  "configuration.updated": ({ who, fields }) =>
    t("{{who}} changed the configuration: {{settings}}", { who, settings: entryNames(fields) }),
  "console_sign_in_code.created": ({ who }) => t("{{who}} created a sign-in link of the operator", { who }),
  "eval.created": created(OBJECTS.eval),
  "eval.updated": changed(OBJECTS.eval),
  "eval.deleted": deleted(OBJECTS.eval),
  "eval.run.created": ({ who, name }) => t("{{who}} started the run {{name}} of an eval", { who, name }),
  "eval.run.canceled": ({ who, name }) => t("{{who}} stopped the run {{name}} of an eval", { who, name }),
  "eval.run.deleted": ({ who, name }) => t("{{who}} deleted the run {{name}} of an eval", { who, name }),
  "group.created": created(OBJECTS.group),
  "group.updated": (facts) => groupSentence(facts) ?? changed(OBJECTS.group)(facts),
  "group.deleted": deleted(OBJECTS.group),
  "guardrail.applied": ({ who }) => t("A guardrail acted on a request of {{who}}", { who }),
  "invite.sent": ({ who, name }) => t("{{who}} invited {{name}}", { who, name }),
  "invite.accepted": ({ fields, nameOf }) => t("{{name}} accepted an invite", { name: nameOf(fields.user_id) }),
  "invite.deleted": ({ who, name }) => t("{{who}} withdrew the invite of {{name}}", { who, name }),
  "login.succeeded": ({ who }) => t("{{who}} signed in", { who }),
  "logout.succeeded": ({ who }) => t("{{who}} signed out", { who }),
  "mcp_connection.created": ({ who, name }) => t("{{who}} connected an account of {{name}}", { who, name }),
  "mcp_connection.deleted": ({ who, name }) => t("{{who}} disconnected an account of {{name}}", { who, name }),
  "model.deleted": ({ who, name }) => t("{{who}} removed the files of {{name}}", { who, name }),
  "model.loaded": ({ who, name }) => t("{{who}} loaded {{name}}", { who, name }),
  "model.pulled": ({ who, name }) => t("{{who}} downloaded {{name}}", { who, name }),
  "model.unloaded": ({ who, name }) => t("{{who}} unloaded {{name}}", { who, name }),
  "organization.created": created(OBJECTS.organization),
  "organization.updated": changed(OBJECTS.organization),
  "organization.archived": ({ who, name }) => t("{{who}} archived {{name}}", { who, name }),
  "project.created": created(OBJECTS.project),
  "project.updated": changed(OBJECTS.project),
  "project.archived": ({ who, name }) => t("{{who}} archived {{name}}", { who, name }),
  "prompt.created": created(OBJECTS.prompt),
  "prompt.updated": changed(OBJECTS.prompt),
  "prompt.deleted": deleted(OBJECTS.prompt),
  "prompt.version.created": ({ who, name }) => t("{{who}} added a version of the prompt {{name}}", { who, name }),
  "prompt.label.updated": ({ who, name }) => t("{{who}} moved a label of the prompt {{name}}", { who, name }),
  "rate_limit.updated": ({ who, name }) => t("{{who}} changed the rate limits of {{name}}", { who, name }),
  "request.content.exported": ({ who }) => t("{{who}} exported recorded requests", { who }),
  "request.content.read": ({ who }) => t("{{who}} read a recorded request", { who }),
  "request.content.searched": ({ who }) => t("{{who}} searched recorded requests", { who }),
  "role.assignment.created": ({ who, fields, nameOf }) =>
    t("{{who}} gave {{name}} the role {{role}}", {
      who,
      name: nameOf(fields.principal_id),
      role: nameOf(fields.role_id),
    }),
  "role.assignment.deleted": ({ who, fields, nameOf }) =>
    t("{{who}} took the role {{role}} from {{name}}", {
      who,
      name: nameOf(fields.principal_id),
      role: nameOf(fields.role_id),
    }),
  "role.created": created(OBJECTS.role),
  "role.updated": changed(OBJECTS.role),
  "role.deleted": deleted(OBJECTS.role),
  "service_account.created": created(OBJECTS.account),
  "service_account.updated": changed(OBJECTS.account),
  "service_account.deleted": deleted(OBJECTS.account),
  "skill.created": created(OBJECTS.skill),
  "skill.updated": changed(OBJECTS.skill),
  "skill.deleted": deleted(OBJECTS.skill),
  "skill.version.created": ({ who, name }) => t("{{who}} added a version of the skill {{name}}", { who, name }),
  "skill.version.deleted": ({ who, name }) => t("{{who}} deleted a version of the skill {{name}}", { who, name }),
  "user.added": created(OBJECTS.user),
  "user.updated": (facts) => userSentence(facts) ?? changed(OBJECTS.user)(facts),
  "user.deleted": deleted(OBJECTS.user),
  "user.erased": ({ who }) => t("{{who}} erased the data of a user", { who }),
  "user.exported": ({ who, name }) => t("{{who}} exported the data of {{name}}", { who, name }),
  "webhook_endpoint.created": created(OBJECTS.webhookEndpoint),
  "webhook_endpoint.updated": changed(OBJECTS.webhookEndpoint),
  "webhook_endpoint.deleted": deleted(OBJECTS.webhookEndpoint),
};

/** Types of events by what they are about, for the filter. */
export const AUDIT_TYPES = Object.keys(SENTENCES) as AuditType[];

function limitSentence(who: string, what: string, limit: unknown): string {
  if (limit === null) return t("{{who}} removed the spend limit of {{what}}", { who, what });
  const cents = Number((limit as Fields).threshold_cents ?? (limit as Fields).threshold_amount);
  return t("{{who}} set the spend limit of {{what}} to {{amount}}", { who, what, amount: formatCost(cents / 100) });
}

function keySentence({ who, name, fields }: Facts): string | undefined {
  if ("rotated_to" in fields) return t("{{who}} rotated the key {{name}}", { who, name });
  return "restored" in fields ? t("{{who}} restored the key {{name}}", { who, name }) : undefined;
}

function groupSentence({ who, name, fields, nameOf }: Facts): string | undefined {
  if ("added_user_id" in fields) {
    return t("{{who}} added {{user}} to the group {{name}}", { who, name, user: nameOf(fields.added_user_id) });
  }
  if (!("removed_user_id" in fields)) return undefined;
  return t("{{who}} removed {{user}} from the group {{name}}", { who, name, user: nameOf(fields.removed_user_id) });
}

function userSentence({ who, name, fields }: Facts): string | undefined {
  if (typeof fields.role === "string") {
    return t("{{who}} gave {{name}} the role {{role}}", { who, name, role: fields.role });
  }
  if (typeof fields.linked_provider === "string") {
    return t("{{name}} was linked with the sign-on provider {{provider}}", { name, provider: fields.linked_provider });
  }
  if (!("is_disabled" in fields)) return undefined;
  return fields.is_disabled
    ? t("{{who}} disabled {{name}}", { who, name })
    : t("{{who}} enabled {{name}}", { who, name });
}

function entryNames({ entries, reason }: Fields): string {
  if (typeof reason === "string") return reason;
  return Array.isArray(entries) ? entries.map((entry: Fields) => String(entry.name)).join(", ") : "";
}

/** What an event is about: its ID, and the fields that were set. */
export function subjectOf(event: AuditEvent): { id: string; fields: Fields } {
  const { id = "", data, changes_requested: changes } = event[event.type as AuditType] ?? {};
  return { id, fields: changes ?? data ?? {} };
}

/** Names that events tell, also of what was deleted since. */
export function namesIn(events: readonly AuditEvent[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const event of events) {
    const { id, fields } = subjectOf(event);
    const name = fields.name ?? fields.title ?? fields.group_name ?? fields.role_name ?? fields.email;
    // Events are newest first: the latest name counts.
    if (typeof name === "string" && !names.has(id)) names.set(id, name);
    if (event.project?.name) names.set(event.project.id, event.project.name);
  }
  return names;
}

/** Who did something: the user or key by name; the operator of the machine has none. */
function actorOf({ actor }: AuditEvent, names: ReadonlyMap<string, string>): string {
  const { api_key: key, session } = actor;
  const user = key?.user ?? session?.user;
  if (user !== undefined && user.id !== "operator") return names.get(user.id) ?? user.email ?? shortId(user.id);
  if (key === undefined) return t("The operator");
  return names.get(key.id) ?? t("The key {{id}}", { id: shortId(key.id) });
}

/** An event as a sentence. */
export function sentenceOf(event: AuditEvent, names: ReadonlyMap<string, string>): string {
  const { id, fields } = subjectOf(event);
  const nameOf = (each: unknown) => names.get(String(each)) ?? shortId(String(each));
  const write = SENTENCES[event.type as AuditType];
  if (write === undefined) return event.type;
  const email = typeof fields.email === "string" ? fields.email : undefined;
  return write({ who: actorOf(event, names), name: email ?? nameOf(id), fields, nameOf });
}

/** IDs of 32 digits tell nobody anything; their ends tell them apart. */
function shortId(id: string): string {
  return id.length > 20 ? `…${id.slice(-6)}` : id;
}
