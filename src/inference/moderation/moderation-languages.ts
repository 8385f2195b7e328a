/** Finds moderation inputs in languages that the model does not know, and applies the project's policy to them. */

import { type DetectedLanguage, detectLanguage } from "@parlance-inference/text-language/detect-language";
import type { ModerationInput, ModerationVerdict } from "../../contracts/moderation-model.ts";
import { type Fault, invalidRequest } from "../../kernel/faults.ts";

/** Required of every moderation of a project. */
export interface UnsupportedLanguagePolicy {
  action: "pass" | "refuse" | "model";
  /** With `model`: the catalog ID or alias of the model that moderates the request instead. */
  model: string | null;
}

/** Detection takes some 5 ms for so many characters, in which no other request proceeds. */
const MAX_CHECKED_CHARACTERS = 50_000;
/** The first words of a text suffice. */
const MIN_CHECKED_CHARACTERS = 100;

/** Undefined entries: languages that are not certain. */
export function detectLanguages(inputs: readonly ModerationInput[]): Promise<(DetectedLanguage | undefined)[]> {
  const each = Math.max(MIN_CHECKED_CHARACTERS, Math.floor(MAX_CHECKED_CHARACTERS / inputs.length));
  return Promise.all(inputs.map(({ text }) => detectLanguage(text.slice(0, each))));
}

/** Returns the name of each input's language unless `known` has it; nothing for a model of unknown languages. */
export function unsupportedLanguages(
  detected: ReadonlyArray<DetectedLanguage | undefined>,
  known: readonly string[] | undefined,
): (string | undefined)[] {
  return detected.map((language) =>
    language === undefined || known === undefined || language.codes.some((code) => known.includes(code))
      ? undefined
      : language.name,
  );
}

export function languageRefusal(unsupported: ReadonlyArray<string | undefined>, model: string): Fault {
  const index = unsupported.findIndex((name) => name !== undefined);
  const name = `Text ${index + 1} of ${unsupported.length} appears to be in ${unsupported[index]}`;
  const message = `${name}, which \`${model}\` does not know, and the project's moderation policy refuses it.`;
  return invalidRequest(message, "input", "unsupported_language");
}

/** Adds the languages to the verdicts, which are all in one event. */
export async function* withLanguages(
  events: AsyncIterable<readonly ModerationVerdict[]>,
  unsupported: ReadonlyArray<string | undefined>,
): AsyncGenerator<readonly ModerationVerdict[], void> {
  for await (const verdicts of events) {
    yield verdicts.map((verdict, index) => {
      const unsupportedLanguage = unsupported[index];
      return unsupportedLanguage === undefined ? verdict : { ...verdict, unsupportedLanguage };
    });
  }
}
