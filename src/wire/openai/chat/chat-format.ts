/**
 * `response_format` of a chat request, in each shape that clients of this API write:
 * `{type: "json_schema", json_schema: {name, schema, …}}` (OpenAI), `{type: "json_schema", json_schema: <the schema>}`,
 * `{type: "json_schema", schema}` and `{type: "json_object", schema}` (llama-server).
 */

import { z } from "zod";
import type { AnswerFormat } from "../../../contracts/chat-model.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { optional } from "../optional.ts";

const ENVELOPE_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

type Fields = Record<string, unknown>;

interface Problem {
  path: string[];
  input: unknown;
  message: string;
  code: "invalid_type" | "invalid_value" | "missing_required_parameter";
}

export const ResponseFormat = z
  .looseObject({ type: z.enum(["text", "json_object", "json_schema"]) })
  .check(({ value, issues }) => {
    const read = readFormat(value);
    if (!("problem" in read)) return;
    const { path, input, message, code } = read.problem;
    issues.push({ code: "custom", path, input, message, params: { code } });
  });

/** vLLM's `guided_json`: a JSON schema, as an object or as its text. */
export const GuidedJson = z.union([z.record(z.string(), z.unknown()), z.string()]).transform((value, { issues }) => {
  if (typeof value !== "string") return value;
  try {
    const schema: unknown = JSON.parse(value);
    if (isObject(schema)) return schema;
  } catch {}
  issues.push({ code: "custom", input: value, message: "it must be a JSON schema, as an object or as its text" });
  return z.NEVER;
});

/** vLLM's `structured_outputs`; local models honor `json` and `json_object`. */
export const StructuredOutputs = lazy.looseObject(() => ({
  json: optional(GuidedJson),
  json_object: optional(z.boolean()),
}));

/** Options of `structured_outputs` that do not change what an answer means. */
const STRUCTURED_OUTPUT_OPTIONS: ReadonlySet<string> = new Set([
  ...["json", "json_object"],
  ...["disable_fallback", "disable_any_whitespace", "disable_additional_properties", "whitespace_pattern"],
]);

/** Returns the name of the constraint in `structured_outputs` that local models do not support; undefined without one. */
export function unsupportedConstraint(outputs: z.output<typeof StructuredOutputs>): string | undefined {
  return Object.keys(outputs).find((name) => (outputs[name] ?? null) !== null && !STRUCTURED_OUTPUT_OPTIONS.has(name));
}

interface FormatFields {
  response_format?: z.output<typeof ResponseFormat> | undefined;
  guided_json?: Fields | undefined;
  structured_outputs?: z.output<typeof StructuredOutputs> | undefined;
}

/** Returns the path and the value of a second format; undefined if the fields agree. */
export function secondFormat(fields: FormatFields): { path: string[]; input: unknown } | undefined {
  const { response_format: format, guided_json: guided, structured_outputs: outputs } = fields;
  const formats = [
    { path: ["response_format"], input: (format?.type ?? "text") === "text" ? undefined : format },
    { path: ["guided_json"], input: guided },
    { path: ["structured_outputs"], input: outputs?.json ?? (outputs?.json_object === true ? outputs : undefined) },
  ];
  return formats.filter(({ input }) => input !== undefined)[1];
}

/** Converts the validated fields that set the answer's format. */
export function toAnswerFormat(fields: FormatFields): AnswerFormat {
  const { response_format: format, guided_json: guided, structured_outputs: outputs } = fields;
  if (guided !== undefined) return { type: "json-schema", schema: guided, param: "guided_json" };
  if (outputs?.json !== undefined) {
    return { type: "json-schema", schema: outputs.json, param: "structured_outputs.json" };
  }
  if (outputs?.json_object === true) return { type: "json" };
  const read = format === undefined ? undefined : readFormat(format);
  return read === undefined || "problem" in read ? { type: "text" } : read.format;
}

/** Name of a schema that its caller did not name. */
const DEFAULT_NAME = "answer";

/** Returns the format as OpenAI's API has it, which is the only form that every upstream reads. */
export function toOpenAiFormat(format: z.output<typeof ResponseFormat>): Fields {
  const read = readFormat(format);
  if ("problem" in read || read.format.type !== "json-schema") return format;
  const { json_schema: given, name, description, strict, schema: _schema, ...others } = format;
  const isEnveloped = isObject(given) && isEnvelope(given);
  const flat = Object.entries({ name, description, strict }).filter(([, value]) => value !== undefined);
  const envelope = isEnveloped ? given : { ...Object.fromEntries(flat), schema: read.format.schema };
  if (isEnveloped && given.name !== undefined) return format;
  return { ...others, type: "json_schema", json_schema: { name: DEFAULT_NAME, ...envelope } };
}

function readFormat(value: { type: string } & Fields): { format: AnswerFormat } | { problem: Problem } {
  const { type, json_schema: given, schema } = value;
  const unread = unreadSchema(value);
  if (unread !== undefined) return { problem: unread };
  if (type === "text") return { format: { type: "text" } };
  if (schema !== undefined && schema !== null) return readSchema(schema, ["schema"]);
  if (type === "json_object") return { format: { type: "json" } };
  if (!isObject(given)) return { problem: notAnObject(given, ["json_schema"]) };
  if (!isEnvelope(given)) return readSchema(given, ["json_schema"]);
  const { name } = given;
  if (name !== undefined && !(typeof name === "string" && ENVELOPE_NAME.test(name))) {
    const message = "it must be 1 to 64 letters, digits, underscores or hyphens";
    return { problem: { path: ["json_schema", "name"], input: name, message, code: "invalid_value" } };
  }
  return readSchema(given.schema, ["json_schema", "schema"]);
}

/** Finds a schema that would be silently ignored. */
function unreadSchema({ type, json_schema: given, schema }: { type: string } & Fields): Problem | undefined {
  const has = (each: unknown) => each !== undefined && each !== null;
  const problem = (field: string, input: unknown, message: string): Problem => ({
    path: [field],
    input,
    message,
    code: "invalid_value",
  });
  if (type === "text" && has(schema)) return problem("schema", schema, "the type text has no schema");
  if (type !== "json_schema" && has(given)) return problem("json_schema", given, "it needs the type json_schema");
  if (has(given) && has(schema)) return problem("schema", schema, "'json_schema' holds a schema already");
  return undefined;
}

/** Whether the value is OpenAI's envelope rather than a schema: JSON Schema has no keyword of these names. */
function isEnvelope(value: Fields): boolean {
  return "schema" in value || "name" in value || "strict" in value;
}

function readSchema(schema: unknown, path: string[]): { format: AnswerFormat } | { problem: Problem } {
  if (!isObject(schema)) return { problem: notAnObject(schema, path) };
  return { format: { type: "json-schema", schema, param: ["response_format", ...path].join(".") } };
}

function notAnObject(input: unknown, path: string[]): Problem {
  const isMissing = input === undefined || input === null;
  const message = isMissing ? "the type json_schema needs a schema" : "a schema is an object";
  return { path, input, message, code: isMissing ? "missing_required_parameter" : "invalid_type" };
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
