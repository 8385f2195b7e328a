/**
 * The values of `format` that are enforced. Each language lies within what ajv-formats accepts; where that takes several
 * ways of writing the same thing, the one that is common.
 */

import type { DFA } from "refa";
import type { Keywords } from "./schema-document.ts";
import type { Shape } from "./shape.ts";
import { patternLanguage } from "./text-language.ts";

const YEAR = "\\d{4}";
const LEAP_YEAR = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const LONG_MONTH = "(?:0[13578]|1[02])";
const DAY_28 = "(?:0[1-9]|1\\d|2[0-8])";
const DATE = `(?:${YEAR}-(?:(?:0[1-9]|1[0-2])-${DAY_28}|(?:0[13-9]|1[0-2])-(?:29|30)|${LONG_MONTH}-31)|${LEAP_YEAR}-02-29)`;
/** Without leap seconds, which few readers take. */
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

const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  "date-time": `${DATE}T${TIME}`,
  duration: `P(?:${PERIOD}(?:${PERIOD_TIME})?|${PERIOD_TIME}|\\d{1,9}W)`,
  uuid: "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
  ipv4: IPV4,
  /** All ways of leaving zeros out, without an IPv4 address at the end. */
  ipv6: [
    `(?:${GROUP}:){7}${GROUP}`,
    ...[1, 2, 3, 4, 5, 6].map((before) => `(?:${GROUP}:){1,${before}}(?::${GROUP}){1,${7 - before}}`),
    `(?:${GROUP}:){1,7}:`,
    `:(?::${GROUP}){1,7}`,
    "::",
  ].join("|"),
  email: `${MAIL_NAME}(?:\\.${MAIL_NAME})*@${NAME}(?:\\.${NAME})+`,
  /** Of at most three labels, which keeps it below 253 characters. */
  hostname: `${LABEL}(?:\\.${LABEL}){0,2}`,
  /** With an authority of a host's name: what an application that asks for a link wants. */
  uri: `https?://${NAME}(?:\\.${NAME})+(?::[1-9]\\d{1,4})?(?:/${URI_CHARACTER}*)?(?:\\?(?:${URI_CHARACTER}|\\?)*)?(?:#(?:${URI_CHARACTER}|\\?)*)?`,
  byte: "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
  "json-pointer": "(?:/(?:[^~/]|~[01])*)*",
};

/** In at most so many characters: an address of any length, held to as many, would take an automaton of too many states. */
const SHORT_URI_LENGTH = 500;
const SHORT_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,28}[A-Za-z0-9])?";
const SHORT_URI = `https?://${SHORT_LABEL}(?:\\.${SHORT_LABEL}){1,3}(?::[1-9]\\d{1,4})?(?:/${PLAIN}{0,200})?(?:\\?${PLAIN}{0,100})?(?:#${PLAIN}{0,40})?`;

/** What other readers take too, where it is more than the above: roughly, but never too little. */
const VALID_FORMATS: Readonly<Record<string, string>> = {
  time: "\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:[zZ]|[+-]\\d\\d(?::?\\d\\d)?)",
  "date-time": "\\d{4}-\\d\\d-\\d\\d[tT\\s]\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:[zZ]|[+-]\\d\\d(?::?\\d\\d)?)",
  duration: "P[\\dYMWDTHS]+",
  uuid: "(?:[uU][rR][nN]:[uU][uU][iI][dD]:)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
  ipv6: "[0-9a-fA-F]*:[0-9a-fA-F:.]*",
  hostname: "[A-Za-z0-9](?:[A-Za-z0-9.-]*)",
  uri: "[A-Za-z][A-Za-z0-9+.-]*:[^\\s]*",
  // Also each line of several.
  byte: "(?:[^]*\\n)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?:\\n[^]*)?",
};

const INT32: Partial<Shape["number"]> = {
  integer: true,
  minimum: { value: -(2 ** 31), exclusive: false },
  maximum: { value: 2 ** 31 - 1, exclusive: false },
};

const NUMBER_FORMATS: Readonly<Record<string, Partial<Shape["number"]>>> = {
  int32: INT32,
  int64: { integer: true },
  float: {},
  double: {},
};

/** zod's own names for what the `pattern` that it writes beside them says. */
const NAMES_OF_PATTERNS: ReadonlySet<string> = new Set([
  "base64",
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

const known = new Map<string, DFA>();

/** How a format is written, and which texts it has. Undefined for one that is not enforced. */
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
  const language = known.get(source) ?? patternLanguage(`^(?:${source})$`);
  known.set(source, language);
  return language;
}

/** Whether it says nothing beyond the pattern beside it; of several patterns, zod writes an `allOf`. */
export function isNameOfPattern(name: string, { pattern, allOf }: Keywords): boolean {
  const beside = Array.isArray(allOf) ? allOf : [];
  return NAMES_OF_PATTERNS.has(name) && (pattern !== undefined || beside.some((schema) => "pattern" in Object(schema)));
}

/** For formats of numbers, as OpenAPI has them. */
export function formatNumber(name: string): Partial<Shape["number"]> | undefined {
  return Object.hasOwn(NUMBER_FORMATS, name) ? NUMBER_FORMATS[name] : undefined;
}
