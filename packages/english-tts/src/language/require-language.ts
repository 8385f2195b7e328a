import { detectBriefLanguage, likeliestLanguage } from "@parlance-inference/text-language/detect-brief-language";
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
 * refusal is worse than an accent. The message names the model's voices for the text's language, from `voicesOf`.
 */
export async function requireLanguage(
  text: string,
  languages: readonly string[],
  voicesOf: (language: string) => readonly string[] = () => [],
): Promise<void> {
  const phrase = foreignPhrase(text);
  const detected = (await detectLanguage(text)) ?? phrase ?? (await detectBriefLanguage(text));
  if (detected === undefined || mayBeIn(detected, languages)) return;
  // Romance languages share function words: "la", "de", "que", "se".
  if (!languages.includes("en") && languages.includes(await likeliestLanguage(text))) return;
  const share = detected === phrase ? "partly" : "mostly";
  const finding = /\bscript\b/.test(detected.name)
    ? `is ${share} in ${detected.name}`
    : `appears to be ${detected.name}`;
  const supported = languages.map(nameOf).join(", ");
  const voices = detected.codes.flatMap(voicesOf);
  const alternative = voices.length === 0 ? "" : ` Use one of the voices that speak it: ${voices.join(", ")}.`;
  const message = `The text ${finding}. The languages of this voice are: ${supported}.${alternative}`;
  throw new TtsError("unsupported_language", message);
}

function nameOf(code: string): string {
  const name = new Intl.DisplayNames("en", { type: "language", fallback: "none" }).of(code);
  return name === undefined ? code : `${name} (${code})`;
}
