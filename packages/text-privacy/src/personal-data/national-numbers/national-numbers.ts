/** National numbers of people, with their check digits. */

import { hasContext, type Match, type Recognizer } from "../../match.ts";
import { namesThing } from "../contact.ts";
import { AMERICAN_NUMBERS } from "./american-numbers.ts";
import { ASIA_PACIFIC_NUMBERS } from "./asia-pacific-numbers.ts";
import { EUROPEAN_NUMBERS } from "./european-numbers.ts";

const FORMS = [...AMERICAN_NUMBERS, ...EUROPEAN_NUMBERS, ...ASIA_PACIFIC_NUMBERS];

const SCORES = { alone: 0.9, "unless-thing": 0.85, context: 0.8 } as const;

export const nationalNumberRecognizer: Recognizer = {
  types: [...new Set(FORMS.map(({ type }) => type))],
  *find(text) {
    for (const form of FORMS) {
      for (const { index, 0: value } of text.matchAll(form.pattern)) {
        const match: Match = { type: form.type, start: index, end: index + value.length, score: SCORES[form.needs] };
        if (!form.isValid(value.replace(/[^\dA-Za-z]/g, "").toUpperCase(), value)) continue;
        const isNamed = hasContext(text, match, form.words);
        if (isNamed) yield { ...match, score: 0.95 };
        else if (form.needs === "alone" || (form.needs === "unless-thing" && !namesThing(text, match))) yield match;
      }
    }
  },
};
