import { detectBriefLanguage } from "@parlance-inference/text-language/detect-brief-language";
import { detectLanguage, foreignPhrase, mayBeIn } from "@parlance-inference/text-language/detect-language";
import type { Segment } from "../text/to-segments.ts";
import { TtsError } from "../tts-error.ts";

/** The words of a text without the markup that SSML adds, whose tags are Latin letters. */
export function spokenText(segments: readonly Segment[]): string {
  return segments.map((segment) => ("sentence" in segment ? segment.sentence : "")).join(" ");
}

/**
 * Throws a TtsError `unsupported_language` for a text that is certainly in a language, or has much of a script, that the
 * voice's languages (ISO 639-1) do not include. Names, loanwords, quotations and texts of one or two words pass: a wrong
 * refusal is worse than an accent.
 */
export async function requireLanguage(text: string, languages: readonly string[]): Promise<void> {
  const phrase = foreignPhrase(text);
  const detected = (await detectLanguage(text)) ?? phrase ?? (await detectBriefLanguage(text));
  if (detected === undefined || mayBeIn(detected, languages)) return;
  const share = detected === phrase ? "partly" : "mostly";
  const finding = /\bscript\b/.test(detected.name)
    ? `is ${share} in ${detected.name}`
    : `appears to be ${detected.name}`;
  const supported = languages.map(nameOf).join(", ");
  throw new TtsError("unsupported_language", `The text ${finding}. The languages of this voice are: ${supported}.`);
}

function nameOf(code: string): string {
  const name = new Intl.DisplayNames("en", { type: "language", fallback: "none" }).of(code);
  return name === undefined ? code : `${name} (${code})`;
}
