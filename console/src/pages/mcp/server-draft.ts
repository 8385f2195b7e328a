/** An MCP server as the form edits it, and as the configuration has it. */

import { ApiError } from "../../api/request.ts";
import { t } from "../../i18n/translate.ts";

export interface ServerDraft {
  name: string;
  url: string;
  /** Address of an OpenAPI document. */
  openapi: string;
  /** One `Name: value` per line. */
  headers: string;
  /** Whether each person connects an account. */
  hasAccounts: boolean;
  needsApproval: boolean;
  /** JSON of all other settings. */
  more: string;
}

type DraftField = "name" | "url" | "openapi" | "headers" | "more";

/** What to correct in a field before the service can check it. */
class DraftError extends Error {
  readonly field: DraftField;

  constructor(field: DraftField, message: string) {
    super(message);
    this.field = field;
  }
}

const FIELDS: ReadonlySet<string> = new Set<DraftField>(["name", "url", "openapi", "headers"]);
/** Settings of switches, whose errors concern several fields. */
const SWITCHES: ReadonlySet<string> = new Set(["oauth", "require_approval"]);

/** Field that an error of the form or of the service concerns. */
export function fieldOf(error: Error | null): DraftField | undefined {
  if (error instanceof DraftError) return error.field;
  if (!(error instanceof ApiError) || error.param === null) return undefined;
  const [setting = ""] = error.param.split(/[.[]/);
  if (FIELDS.has(setting)) return setting as DraftField;
  return SWITCHES.has(setting) ? undefined : "more";
}

type Value = Readonly<Record<string, unknown>>;

export const NEW_SERVER: ServerDraft = {
  name: "",
  url: "",
  openapi: "",
  headers: "",
  hasAccounts: false,
  needsApproval: false,
  more: "{}",
};

export function toDraft(value: Value): ServerDraft {
  const { name, url, openapi, headers = {}, oauth, require_approval: approval, ...rest } = value;
  const hasDetails = oauth !== undefined && Object.keys(oauth as object).length > 0;
  return {
    name: String(name),
    url: typeof url === "string" ? url : "",
    openapi: typeof openapi === "string" ? openapi : "",
    headers: Object.entries(headers as Record<string, string>)
      .map(([header, text]) => `${header}: ${text}`)
      .join("\n"),
    hasAccounts: oauth !== undefined,
    needsApproval: approval === "always",
    more: JSON.stringify(hasDetails ? { ...rest, oauth } : rest, undefined, 2),
  };
}

/** Throws a DraftError. */
export function toValue({ name, url, openapi, headers, hasAccounts, needsApproval, more }: ServerDraft): Value {
  const { oauth = {}, ...rest } = parseMore(more);
  const parsed = parseHeaders(headers);
  return {
    ...rest,
    name: name.trim(),
    ...(url.trim() !== "" && { url: url.trim() }),
    ...(openapi.trim() !== "" && { openapi: openapi.trim() }),
    ...(Object.keys(parsed).length > 0 && { headers: parsed }),
    ...(hasAccounts && { oauth }),
    ...(needsApproval && { require_approval: "always" }),
  };
}

function parseMore(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new DraftError("more", t("More settings: this is not a JSON object."));
}

function parseHeaders(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      const header = line.slice(0, colon).trim();
      if (colon > 0 && header !== "") return [header, line.slice(colon + 1).trim()];
      throw new DraftError("headers", t("Headers: write each line as a name, a colon and a value."));
    }),
  );
}
