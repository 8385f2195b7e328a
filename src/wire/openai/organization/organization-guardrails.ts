/** Guardrails of a project. Not in OpenAI's API. */

import { z } from "zod";
import { guardrailList } from "../../../contracts/guardrail.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { ProjectGuardrails } from "../../openapi/project-policy-answers.ts";

export const GuardrailsBody = named(
  "GuardrailsBody",
  z.strictObject({
    guardrails: guardrailList.describe(
      "Guardrails of all requests of the project, in order, in the form of `guardrails` in parlance.yaml. Replaces those that it has; an empty list removes them.",
    ),
  }),
);

type WrittenGuardrail = Readonly<Record<string, unknown>> & { type: string };

export function toProjectGuardrails(guardrails: readonly WrittenGuardrail[]): AnswerOf<typeof ProjectGuardrails> {
  return { object: "project.guardrails" as const, guardrails: guardrails.map((each) => ({ ...each })) };
}
