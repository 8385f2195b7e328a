/** Guardrails as they are stored and as the API writes them. */

import { type Guardrail, guardrailList } from "../../contracts/guardrail.ts";
import type { ProjectModeration } from "../moderations/index.ts";
import type { ProjectGuardrailsRow } from "./guardrail-rows.ts";

/** One guardrail in the form of the API, with names in snake_case. */
export type WrittenGuardrail = Readonly<Record<string, unknown>> & { type: string };

/** Stands for a list that a newer version wrote and this one cannot read: nothing passes it. */
const UNREADABLE: Guardrail = guardrailList.parse([{ type: "webhook", webhook: "unreadable-policy" }])[0] as Guardrail;

export function toGuardrails({ guardrails }: ProjectGuardrailsRow): readonly Guardrail[] {
  const parsed = guardrailList.safeParse(JSON.parse(guardrails));
  return parsed.success ? parsed.data : [UNREADABLE];
}

/** A moderation policy as an entry of the list. */
export function toModerationEntry({ model, input, output, unsupportedLanguage }: ProjectModeration): WrittenGuardrail {
  return {
    type: "moderation",
    ...(model !== null && { model }),
    ...(input !== null && { input }),
    ...(output !== null && { output }),
    ...(unsupportedLanguage !== null && {
      unsupported_language: {
        action: unsupportedLanguage.action,
        ...(unsupportedLanguage.model !== null && { model: unsupportedLanguage.model }),
      },
    }),
  };
}

export function toModeration({ model, input, output, unsupportedLanguage }: Guardrail): ProjectModeration {
  return {
    model: model ?? null,
    input: input ?? null,
    output: output ?? null,
    unsupportedLanguage:
      unsupportedLanguage === undefined
        ? null
        : { action: unsupportedLanguage.action, model: unsupportedLanguage.model ?? null },
  };
}
