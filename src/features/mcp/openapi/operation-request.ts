/** The request of a call: arguments at the places where the document wants them, below the address of the API. */

import { randomUUID } from "node:crypto";
import type { ApiBody, ApiOperation, ApiParameter } from "./api-description.ts";

export interface OperationRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: Buffer | string | undefined;
}

/** Arguments that the operation does not take; the model reads the message and can correct them. */
export class WrongArguments extends Error {
  override readonly name = "WrongArguments";
}

/** Parts of a path that lead elsewhere. */
const DOTS = /^\.{1,2}$/;

/** Characters of an argument outside of the body, and of a form: encoding them takes the time of all callers. */
const MAX_PARAMETER_LENGTH = 16_384;
const MAX_FORM_LENGTH = 262_144;
const MAX_FIELDS = 1_000;

type Arguments = Readonly<Record<string, unknown>>;

/**
 * `base`: address of the API; parameters of its query, such as a key, are sent with every call. `operatorHeaders`: names
 * in lower case that no argument sets. Throws WrongArguments.
 */
export function toRequest(
  operation: ApiOperation,
  given: Arguments,
  { base, operatorHeaders }: { base: URL; operatorHeaders: ReadonlySet<string> },
): OperationRequest {
  // An API may have a parameter `constructor`, which every other object has a value of.
  const input: Arguments = Object.assign(Object.create(null), given);
  checkNames(operation, input);
  const url = new URL(base);
  const prefix = base.pathname.replace(/\/$/, "");
  const path = pathOf(operation, input);
  url.pathname = prefix + path;
  // The document may write dots, and two values beside each other make them, in ways that only the parser knows.
  const isClimb = segmentsIn(url.pathname) !== segmentsIn(prefix + path);
  if (isClimb) throw new WrongArguments("The path cannot be sent: a part of it leads to another place.");
  const headers: Record<string, string> = { accept: "application/json, text/*;q=0.9, */*;q=0.5" };
  for (const parameter of operation.parameters) {
    const value = input[parameter.argument];
    if (value === undefined || value === null) continue;
    if (parameter.in === "query") addToQuery(url, parameter, value, base);
    if (parameter.in === "header" && !operatorHeaders.has(parameter.name.toLowerCase())) {
      headers[parameter.name] = headerValue(parameter, value);
    }
  }
  const { body } = operation;
  const value = body === undefined ? undefined : input[body.argument];
  if (body === undefined || value === undefined) return { url, method: operation.method, headers, body: undefined };
  const written = writeBody(body, value);
  return { url, method: operation.method, headers: { ...headers, "content-type": written.type }, body: written.body };
}

function segmentsIn(path: string): number {
  return path.split(/[\\/]/).length;
}

function checkNames({ parameters, body }: ApiOperation, input: Arguments): void {
  const accepted = [...parameters, ...(body === undefined ? [] : [body])];
  const names = new Set(accepted.map(({ argument }) => argument));
  const unknown = Object.keys(input).find((name) => !names.has(name));
  if (unknown !== undefined) {
    const list = [...names].join(", ") || "none";
    throw new WrongArguments(`There is no argument '${unknown.slice(0, 100)}'. The arguments are: ${list}.`);
  }
  for (const { argument } of parameters) {
    const value = input[argument];
    const { length = 0 } = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    if (length <= MAX_PARAMETER_LENGTH) continue;
    throw new WrongArguments(`The argument '${argument}' has more than ${MAX_PARAMETER_LENGTH} characters, the limit.`);
  }
  const missing = accepted.find(({ argument, required }) => required && input[argument] === undefined);
  if (missing !== undefined) throw new WrongArguments(`The argument '${missing.argument}' is required.`);
}

function pathOf({ path, parameters }: ApiOperation, input: Arguments): string {
  return path.replace(/\{([^{}]*)\}/g, (_whole, name: string) => {
    const parameter = parameters.find((each) => each.in === "path" && each.name === name);
    const text = parameter === undefined ? "" : simple(parameter, input[parameter.argument]);
    const isClimb = text.split(/[\\/]/).some((part) => DOTS.test(part));
    if (text === "" || isClimb || /[\p{Cc}]/u.test(text) || !text.isWellFormed()) {
      throw new WrongArguments(`The argument '${parameter?.argument ?? name}' is not a value for a path.`);
    }
    return encodeURIComponent(text).replaceAll("'", "%27");
  });
}

function addToQuery(url: URL, parameter: ApiParameter, value: unknown, base: URL): void {
  for (const [name, text] of queryPairs(parameter, value)) {
    if (base.searchParams.has(name)) throw new WrongArguments(`The operator sets '${name}' of the query.`);
    url.searchParams.append(name, text);
  }
}

function queryPairs({ name, style, explode }: ApiParameter, value: unknown): [string, string][] {
  if (style === "json" || typeof value !== "object" || value === null) return [[name, textOf(value)]];
  if (Array.isArray(value)) {
    if (explode) return value.map((each) => [name, textOf(each)]);
    const separator = style === "spaceDelimited" ? " " : style === "pipeDelimited" ? "|" : ",";
    return [[name, value.map(textOf).join(separator)]];
  }
  const entries = Object.entries(value).map(([key, each]): [string, string] => [key, textOf(each)]);
  if (style === "deepObject") return entries.map(([key, text]) => [`${name}[${key}]`, text]);
  return explode ? entries : [[name, entries.flat().join(",")]];
}

function headerValue(parameter: ApiParameter, value: unknown): string {
  const text = simple(parameter, value);
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text;
  throw new WrongArguments(`The argument '${parameter.argument}' is not a value for a header.`);
}

function simple({ style, explode }: ApiParameter, value: unknown): string {
  if (style === "json" || typeof value !== "object" || value === null) return textOf(value);
  if (Array.isArray(value)) return value.map(textOf).join(",");
  const entries = Object.entries(value).map(([key, each]) =>
    explode ? [`${key}=${textOf(each)}`] : [key, textOf(each)],
  );
  return entries.flat().join(",");
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function writeBody(body: ApiBody, value: unknown): { type: string; body: Buffer | string } {
  const { mediaType } = body;
  if (mediaType.startsWith("application/x-www-form-urlencoded")) {
    const fields = fieldsOf(body, value);
    const length = fields.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
    if (length > MAX_FORM_LENGTH) {
      throw new WrongArguments(`The form has more than ${MAX_FORM_LENGTH} characters, the limit.`);
    }
    return { type: mediaType, body: new URLSearchParams(fields).toString() };
  }
  if (mediaType.startsWith("multipart/form-data")) return writeForm(body, value);
  if (/^text\/|xml/.test(mediaType)) return { type: `${mediaType.split(";")[0]}; charset=utf-8`, body: textOf(value) };
  return { type: mediaType, body: JSON.stringify(value) };
}

/** Fields of a form, where a list is its name several times. */
function fieldsOf({ argument }: ApiBody, value: unknown): [string, string][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new WrongArguments(`The argument '${argument}' has to be an object with the fields of the form.`);
  }
  const entries = Object.entries(value);
  const count = entries.reduce((sum, [, each]) => sum + (Array.isArray(each) ? each.length : 1), 0);
  if (count > MAX_FIELDS) throw new WrongArguments(`The form has more than ${MAX_FIELDS} fields, the limit.`);
  return entries.flatMap(([name, each]): [string, string][] => {
    return Array.isArray(each) ? each.map((item) => [name, textOf(item)]) : [[name, textOf(each)]];
  });
}

function writeForm(body: ApiBody, value: unknown): { type: string; body: Buffer } {
  const boundary = `parlance-${randomUUID()}`;
  const parts = fieldsOf(body, value).flatMap(([name, text]) => {
    const escaped = name.replace(/[\r\n"]/g, (character) => encodeURIComponent(character));
    const isFile = body.files.includes(name);
    const file = isFile ? `; filename="${escaped}"\r\ncontent-type: application/octet-stream` : "";
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${escaped}"${file}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(text, isFile ? "base64" : "utf8"), Buffer.from("\r\n")];
  });
  const end = Buffer.from(`--${boundary}--\r\n`);
  return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat([...parts, end]) };
}
