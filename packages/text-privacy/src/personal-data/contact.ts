/** E-mail and network addresses. */

import { isIPv6 } from "node:net";
import type { Match, Recognizer } from "../match.ts";

const LOCAL_PART = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]/u;
const MAX_LOCAL_PART = 64;
const DOMAIN =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59})(?![\p{L}\p{N}])/u;
/** Address of a network in place of a domain, RFC 5321, section 4.1.3. */
const DOMAIN_LITERAL = /^\[(?:IPv6:[\da-f:.]{2,45}|(?:\d{1,3}\.){3}\d{1,3})\]/i;
/** "at" and "dot" written out, as people do to mislead programs. */
const SPELLED = /(?<![\w.])[\w.+-]{1,64} ?[[(]at[\])] ?(?:[\w-]{1,63} ?(?:\.|[[(]dot[\])]) ?){1,4}[a-z]{2,24}(?!\w)/gi;

export const emailRecognizer: Recognizer = {
  types: ["EMAIL_ADDRESS"],
  *find(text) {
    for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
      const start = text[at - 1] === '"' ? quoteStart(text, at - 1) : localPartStart(text, at);
      if (start === at) continue;
      const rest = text.slice(at + 1, at + 255);
      const domain = (DOMAIN.exec(rest) ?? DOMAIN_LITERAL.exec(rest))?.[0];
      if (domain !== undefined) yield { type: "EMAIL_ADDRESS", start, end: at + 1 + domain.length, score: 1 };
    }
    if (!/[[(](?:at|AT|At)[\])]/.test(text)) return;
    for (const { index, 0: value } of text.matchAll(SPELLED)) {
      yield { type: "EMAIL_ADDRESS", start: index, end: index + value.length, score: 0.9 };
    }
  },
};

function localPartStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < MAX_LOCAL_PART && LOCAL_PART.test(text.charAt(start - 1))) start -= 1;
  // Punctuation of the sentence or of a link: (mail@example.com), 'mail@example.com', mailto:
  while (start < at && /[.!#$%&'*/=?^`{|}~-]/.test(text.charAt(start))) start += 1;
  return start;
}

/** Returns where a quoted local part (RFC 5321, section 4.1.2) begins, with the escapes of its quote. */
function quoteStart(text: string, end: number): number {
  let escapes = 0;
  while (text[end - 1 - escapes] === "\\") escapes += 1;
  const quote = text.slice(end - escapes, end + 1);
  const least = end - escapes - MAX_LOCAL_PART;
  for (let start = end - escapes - 2; start >= Math.max(0, least); start -= 1) {
    if (text[start] === "\n") break;
    if (text[start] !== '"') continue;
    let before = start;
    while (before > 0 && text[before - 1] === "\\") before -= 1;
    if (start - before <= quote.length - 1) return before;
  }
  return end + 1;
}

const IP_V4 =
  /(?<![\w.-])(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}(?![\w-]|\.\d)/g;
const IP_V6 = /(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{0,4})(?![\w:]|\.\w)/g;
/** "Version 1.2.3.4", "section 2.1.3.1", "Chrome/9.0.0.1" */
const NUMBERING =
  /(?:\bv|\bver(?:sion)?s?|\brelease|\bbuild|\brev(?:ision)?|\bsection|\bchapter|\bfigure|\btable|\bclause|\bfirmware|\bupgraded? to|\bdriver|==|>=|<=|~=|\^|[A-Za-z]\/)[:\s]{0,3}$/i;
/** Addresses of no machine in particular. */
const NOT_PERSONAL = /^(?:0\.|127\.|255\.255\.|224\.0\.0\.)/;

export const ipAddressRecognizer: Recognizer = {
  types: ["IP_ADDRESS"],
  *find(text) {
    for (const { index, 0: value } of text.matchAll(IP_V4)) {
      if (NOT_PERSONAL.test(value) || NUMBERING.test(text.slice(Math.max(0, index - 24), index))) continue;
      yield { type: "IP_ADDRESS", start: index, end: index + value.length, score: 0.9 };
    }
    for (const { index, 0: value } of text.matchAll(IP_V6)) {
      const groups = value.split(":").filter((group) => group !== "");
      // "::" alone and "a::b" stand in code.
      if (groups.length < 3 && !/^(?:[23][0-9a-f]{3}|f[cde][0-9a-f]{2}):/i.test(value)) continue;
      if (!isIPv6(value)) continue;
      yield { type: "IP_ADDRESS", start: index, end: index + value.length, score: 0.9 };
    }
  },
};

const MAC = /(?<![\w:-])[0-9A-Fa-f]{2}(?:(:|-)[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![\w:-])/g;

export const macAddressRecognizer: Recognizer = {
  types: ["MAC_ADDRESS"],
  *find(text) {
    for (const { index, 0: value } of text.matchAll(MAC)) {
      if (/^(.)\1[:-]/.test(value) && new Set(value.replace(/[:-]/g, "")).size === 1) continue;
      yield { type: "MAC_ADDRESS", start: index, end: index + value.length, score: 0.9 };
    }
  },
};

const URL_PATTERN = /(?<![\w.@])(?:https?|ftp):\/\/[^\s<>"'`{}|\\^\])]{3,2048}/gi;

/** Not among the default entities: most addresses of pages are not personal. */
export const urlRecognizer: Recognizer = {
  types: ["URL"],
  *find(text) {
    for (const { index, 0: raw } of text.matchAll(URL_PATTERN)) {
      const value = raw.replace(/[.,;:!?]{1,4}$/, "");
      yield { type: "URL", start: index, end: index + value.length, score: 0.6 };
    }
  },
};

/** Words before numbers that identify things rather than people. */
const THINGS =
  /\b(?:order|part|item|sku|model|product|invoice|ticket|tracking|shipment|serial|batch|lot|ref(?:erence)?|case|article|asin|isbn|ean|upc|gtin|build|commit|revision|transaction|parcel|job|bug|issue|pr|po|rma|catalog(?:ue)?|cat|document|doc|draft|error code|hash|checksum|sha\d*|md5|uuid|guid|version|firmware|cas|bestellung|bestellnummer|artikel|auftrag|rechnung|commande|pedido)(?:s|\.|nummer)?[ \t]{0,2}(?:no\.?|nr\.?|number|num|id|code|#|№)?[ \t]{0,2}[:#=]?[ \t]{0,2}(?:is |was |are )?["'`(]?[A-Z]{0,4}[-/#]?$/i;

export function namesThing(text: string, { start }: Pick<Match, "start">): boolean {
  return THINGS.test(text.slice(Math.max(0, start - 40), start));
}
