/**
 * Speech Synthesis Markup Language 1.1: the tags that change what is spoken and when, and `<emphasis>`, whose text the
 * voices speak as any other. Other tags throw a TtsError.
 */

import { SaxesParser } from "saxes";
import { invalidSsml } from "../tts-error.ts";
import { withoutMarks } from "./rewritten-text.ts";
import { sayAs } from "./say-as.ts";

/** `written`: what `<say-as>` and `<sub>` contain, where they say something else. */
export type SsmlPart = { text: string; written?: string } | { pauseSeconds: number };

const TAGS = ["speak", "p", "s", "break", "emphasis", "say-as", "sub"];
const SUPPORTED = TAGS.map((tag) => `<${tag}>`).join(", ");
/** Tags of SSML that no other markup has, so that a text with them is SSML even without `<speak>`. */
const SSML_TAG = /<\/?(?:speak|break|emphasis|say-as|prosody|phoneme|sub|amazon:[\w-]+)(?:\s[^<>]*)?\/?>/i;
const MAX_PAUSE_SECONDS = 10;
/** Tags are short: a text of 4,096 characters could otherwise ask for 38 minutes of silence. */
const MAX_PAUSES_SECONDS = 300;
/** Seconds by `strength`, as common engines pause. */
const STRENGTHS: Readonly<Record<string, number>> = {
  none: 0,
  "x-weak": 0.1,
  weak: 0.25,
  medium: 0.5,
  strong: 0.75,
  "x-strong": 1,
};

/** Whether the text contains a tag that only SSML has. */
export function isSsml(text: string): boolean {
  return SSML_TAG.test(text);
}

/** Throws a TtsError `invalid_ssml` for broken markup and for tags that the voices cannot honor. */
export function parseSsml(text: string, language = "en"): SsmlPart[] {
  const parts: SsmlPart[] = [];
  const open: { name: string; attributes: Record<string, string>; text: string; written: string }[] = [];
  const parser = new SaxesParser();
  const say = (text: string, written = text) => {
    const inner = open.at(-1);
    if (inner !== undefined && (inner.name === "say-as" || inner.name === "sub")) {
      inner.text += text;
      inner.written += written;
    } else parts.push(written === text ? { text } : { text, written });
  };
  parser.on("error", ({ message }) => {
    throw invalidSsml(`it is not well-formed XML (${message.replace(/^\d+:\d+: /, "")})`);
  });
  parser.on("text", (text) => say(text));
  parser.on("cdata", (text) => say(text));
  parser.on("opentag", ({ name, attributes }) => {
    if (!TAGS.includes(name)) throw invalidSsml(`<${name}> is not supported; ${SUPPORTED} are`);
    open.push({ name, attributes, text: "", written: "" });
    if (name === "p" || name === "s") parts.push({ text: "\n" });
    if (name === "break") parts.push({ pauseSeconds: pauseOf(attributes) });
  });
  parser.on("closetag", ({ name }) => {
    const tag = open.pop();
    if (name === "p" || name === "s") parts.push({ text: "\n" });
    if (tag?.name === "say-as") {
      say(sayAs(withoutMarks(tag.text), tag.attributes["interpret-as"] ?? "", language), tag.written);
    }
    if (tag?.name === "sub") say(tag.attributes.alias ?? tag.text, tag.written);
  });
  parser.write(withRoot(text)).close();
  const pauses = parts.reduce((sum, part) => sum + ("pauseSeconds" in part ? part.pauseSeconds : 0), 0);
  if (pauses > MAX_PAUSES_SECONDS) {
    throw invalidSsml(`the breaks of a text may take at most ${MAX_PAUSES_SECONDS} s together, not ${pauses} s`);
  }
  return parts;
}

/** Wraps a text without `<speak>`, whose `&` and `<` may be meant literally. */
function withRoot(text: string): string {
  if (/^\s*(?:<\?xml[^>]*>\s*)?<speak[\s>]/.test(text)) return text.trim();
  const escaped = text
    .replace(/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/gi, "&amp;")
    .replace(/<(?![/\w])/g, "&lt;");
  return `<speak>${escaped}</speak>`;
}

function pauseOf({ time, strength = "medium" }: Record<string, string>): number {
  if (time !== undefined) {
    const [, number, unit] = /^\+?(\d*\.?\d+)(ms|s)$/.exec(time.trim()) ?? [];
    if (number === undefined) throw invalidSsml(`time="${time}" is not a number of s or ms, such as "500ms"`);
    const seconds = Number(number) / (unit === "ms" ? 1000 : 1);
    if (seconds > MAX_PAUSE_SECONDS)
      throw invalidSsml(`a break may take at most ${MAX_PAUSE_SECONDS} s, not ${seconds} s`);
    return seconds;
  }
  const seconds = Object.hasOwn(STRENGTHS, strength) ? STRENGTHS[strength] : undefined;
  if (seconds === undefined)
    throw invalidSsml(`strength="${strength}" is not one of ${Object.keys(STRENGTHS).join(", ")}`);
  return seconds;
}
