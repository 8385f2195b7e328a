/**
 * The values of `format` that a grammar enforces. Each language is a subset of what ajv-formats accepts: where several
 * notations are valid, the most common one.
 */

import type { DFA } from "refa";
import type { Keywords } from "./schema-document.ts";
import { patternLanguage } from "./string-language.ts";
import type { ValueConstraints } from "./value-constraints.ts";

const YEAR = "\\d{4}";
const LEAP_YEAR = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const LONG_MONTH = "(?:0[13578]|1[02])";
const DAY_28 = "(?:0[1-9]|1\\d|2[0-8])";
const DATE = `(?:${YEAR}-(?:(?:0[1-9]|1[0-2])-${DAY_28}|(?:0[13-9]|1[0-2])-(?:29|30)|${LONG_MONTH}-31)|${LEAP_YEAR}-02-29)`;
/** Excludes leap seconds, which few parsers accept. */
const TIME = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
const PERIOD = "(?:\\d{1,9}Y(?:\\d{1,9}M)?(?:\\d{1,9}D)?|\\d{1,9}M(?:\\d{1,9}D)?|\\d{1,9}D)";
const PERIOD_TIME = "T(?:\\d{1,9}H(?:\\d{1,9}M)?(?:\\d{1,9}S)?|\\d{1,9}M(?:\\d{1,9}S)?|\\d{1,9}S)";
const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;
const GROUP = "[0-9a-f]{1,4}";
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const NAME = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const MAIL_NAME = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const PLAIN = "[A-Za-z0-9._~!$&'()*+,;=:@/-]";
const URI_CHARACTER = `(?:${PLAIN}|%[0-9A-Fa-f]{2})`;

const EMAIL = `${MAIL_NAME}(?:\\.${MAIL_NAME})*@${NAME}(?:\\.${NAME})+`;
/** At most three labels, which keeps it below 253 characters. */
const HOSTNAME = `${LABEL}(?:\\.${LABEL}){0,2}`;
const QUERY = `(?:\\?(?:${URI_CHARACTER}|\\?)*)?(?:#(?:${URI_CHARACTER}|\\?)*)?`;
/** HTTP URLs with a domain name: what an application that asks for a link expects. */
const URI = `https?://${NAME}(?:\\.${NAME})+(?::[1-9]\\d{1,4})?(?:/${URI_CHARACTER}*)?${QUERY}`;
/** Such a URL, or a path. */
const URI_REFERENCE = `(?:${URI}|(?:/|(?:\\.{1,2}/)*)(?:[A-Za-z0-9._~-]+/)*(?:[A-Za-z0-9._~-]+)?${QUERY})`;
const BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?";

const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  "date-time": `${DATE}T${TIME}`,
  duration: `P(?:${PERIOD}(?:${PERIOD_TIME})?|${PERIOD_TIME}|\\d{1,9}W)`,
  uuid: "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
  ipv4: IPV4,
  /** Every position of `::`, without an embedded IPv4 address. */
  ipv6: [
    `(?:${GROUP}:){7}${GROUP}`,
    ...[1, 2, 3, 4, 5, 6].map((before) => `(?:${GROUP}:){1,${before}}(?::${GROUP}){1,${7 - before}}`),
    `(?:${GROUP}:){1,7}:`,
    `:(?::${GROUP}){1,7}`,
    "::",
  ].join("|"),
  email: EMAIL,
  hostname: HOSTNAME,
  uri: URI,
  byte: BASE64,
  base64: BASE64,
  "json-pointer": "(?:/(?:[^~/]|~[01])*)*",
  "json-pointer-uri-fragment": "#(?:/(?:[A-Za-z0-9_.!$&'()*+,;:=@-]|%[0-9A-Fa-f]{2}|~[01])*)*",
  "relative-json-pointer": "(?:0|[1-9]\\d{0,8})(?:#|(?:/(?:[^~/]|~[01])*)*)",
  "uri-reference": URI_REFERENCE,
  "iri-reference": URI_REFERENCE,
  "uri-template": `(?:${URI_CHARACTER}|[?#]|\\{[A-Za-z0-9_]+(?:,[A-Za-z0-9_]+)*\\})*`,
  url: URI,
  iri: URI,
  "idn-email": EMAIL,
  "idn-hostname": HOSTNAME,
  "iso-time": TIME,
  "iso-date-time": `${DATE}T${TIME}`,
};

/** Formats that the validator checks and no automaton describes. */
const CHECKED_FORMATS: ReadonlySet<string> = new Set(["regex"]);

export const isCheckedFormat = (name: string): boolean => CHECKED_FORMATS.has(name);

/** Below this `maxLength`, or without one, URIs of any length are used; above it, URIs bounded by their pattern, since counting characters would need too many states. */
const SHORT_URI_LENGTH = 500;
const SHORT_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,28}[A-Za-z0-9])?";
const SHORT_URI = `https?://${SHORT_LABEL}(?:\\.${SHORT_LABEL}){1,3}(?::[1-9]\\d{1,4})?(?:/${PLAIN}{0,200})?(?:\\?${PLAIN}{0,100})?(?:#${PLAIN}{0,40})?`;

/** Supersets of the formats that other parsers accept, where those are larger than the above. */
const VALID_FORMATS: Readonly<Record<string, string>> = {
  time: "\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:[zZ]|[+-]\\d\\d(?::?\\d\\d)?)",
  "date-time": "\\d{4}-\\d\\d-\\d\\d[tT\\s]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:[zZ]|[+-]\\d\\d(?::?\\d\\d)?)",
  duration: "P[\\dYMWDTHS]+",
  uuid: "(?:[uU][rR][nN]:[uU][uU][iI][dD]:)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
  ipv6: "[0-9a-fA-F]*:[0-9a-fA-F:.]*",
  hostname: "[A-Za-z0-9](?:[A-Za-z0-9.-]*)",
  uri: "[A-Za-z][A-Za-z0-9+.-]*:[^\\s]*",
  url: "[A-Za-z][A-Za-z0-9+.-]*:[^\\s]*",
  iri: "[^]*",
  "uri-reference": "[^]*",
  "iri-reference": "[^]*",
  "uri-template": "[^]*",
  "idn-email": "[^]*",
  "idn-hostname": "[^]*",
  "iso-time": "[^]*",
  "iso-date-time": "[^]*",
  "json-pointer-uri-fragment": "#[^]*",
  base64: "[^]*",
  // ajv-formats matches it with the `m` flag: any line may match.
  byte: "(?:[^]*\\n)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?:\\n[^]*)?",
};

const INT32: Partial<ValueConstraints["number"]> = {
  integer: true,
  minimum: { value: -(2 ** 31), exclusive: false },
  maximum: { value: 2 ** 31 - 1, exclusive: false },
};

const NUMBER_FORMATS: Readonly<Record<string, Partial<ValueConstraints["number"]>>> = {
  int32: INT32,
  int64: { integer: true },
  float: {},
  double: {},
};

/** Formats that zod writes next to an equivalent `pattern`. */
const PATTERN_ALIASES: ReadonlySet<string> = new Set([
  "base64url",
  "cidrv4",
  "cidrv6",
  "cuid",
  "cuid2",
  "e164",
  "emoji",
  "ends_with",
  "guid",
  "includes",
  "ksuid",
  "lowercase",
  "nanoid",
  "starts_with",
  "ulid",
  "uppercase",
  "xid",
]);

const languages = new Map<string, DFA>();

/** The language of a format, as generated (`make`) and as accepted by parsers (`makeValid`). Undefined when not supported. */
export function formatLanguage(
  name: string,
): { make: (maxLength: number | undefined) => DFA; makeValid: () => DFA } | undefined {
  const pattern = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (pattern === undefined) {
    return undefined;
  }
  return {
    make: (maxLength) => {
      const isShort = name === "uri" && maxLength !== undefined && maxLength >= SHORT_URI_LENGTH;
      return languageOf(isShort ? SHORT_URI : pattern);
    },
    makeValid: () => languageOf(VALID_FORMATS[name] ?? pattern),
  };
}

function languageOf(source: string): DFA {
  const language = languages.get(source) ?? patternLanguage(`^(?:${source})$`);
  languages.set(source, language);
  return language;
}

/** Whether the format only repeats the pattern next to it. For several patterns, zod writes an `allOf`. */
export function isPatternAlias(name: string, { pattern, allOf }: Keywords): boolean {
  const beside = Array.isArray(allOf) ? allOf : [];
  return PATTERN_ALIASES.has(name) && (pattern !== undefined || beside.some((schema) => "pattern" in Object(schema)));
}

/** Bounds of OpenAPI's number formats. */
export function numberFormat(name: string): Partial<ValueConstraints["number"]> | undefined {
  return Object.hasOwn(NUMBER_FORMATS, name) ? NUMBER_FORMATS[name] : undefined;
}
