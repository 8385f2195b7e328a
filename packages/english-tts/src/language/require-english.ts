import { detectLanguage } from "@parlance-inference/text-language/detect-language";
import { TtsError } from "../tts-error.ts";

/**
 * Throws a TtsError `unsupported_language` for a text that is mostly in another script or certainly in another language.
 * Names, loanwords, quotations and short texts pass: a wrong refusal is worse than an accent.
 */
export async function requireEnglish(text: string): Promise<void> {
  const language = await detectLanguage(text);
  if (language === undefined || language.codes.includes("en")) return;
  const finding = /\bscript\b/.test(language.name) ? `is mostly in ${language.name}` : `appears to be ${language.name}`;
  throw new TtsError("unsupported_language", `The text ${finding}. The languages of this voice are: English (en).`);
}
