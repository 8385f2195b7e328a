/** Graders as the fields of their form. */

import { randomId } from "../../components/random-id.ts";
import { type Message, msg, t } from "../../i18n/translate.ts";

export type GraderType = "string_check" | "text_similarity" | "score_model" | "label_model";

export interface GraderDraft {
  key: string;
  type: GraderType;
  name: string;
  operation: string;
  metric: string;
  reference: string;
  threshold: number | string;
  model: string | null;
  instructions: string;
  labels: string;
  passing: string;
}

export const GRADER_TYPES: readonly { value: GraderType; label: Message }[] = [
  { value: "string_check", label: msg("Compares texts") },
  { value: "text_similarity", label: msg("Measures similarity") },
  { value: "score_model", label: msg("A model gives a score") },
  { value: "label_model", label: msg("A model gives a label") },
];

const OUTPUT = "{{sample.output_text}}";

export function newGrader(number: number): GraderDraft {
  return {
    key: randomId(),
    type: "string_check",
    name: number === 1 ? t("correct") : t("grader {{number}}", { number }),
    operation: "ilike",
    metric: "fuzzy_match",
    reference: "{{item.answer}}",
    threshold: 0.5,
    model: null,
    // untranslated: a prompt of the model that grades
    instructions: `Rate from 0 to 1 how good the answer is.\n\nQuestion: {{item.question}}\n\nAnswer: ${OUTPUT}`,
    // untranslated: labels of the model that grades
    labels: "good, bad",
    passing: "good",
  };
}

export function toGrader({ type, name, ...draft }: GraderDraft): object {
  const threshold = draft.threshold === "" ? {} : { pass_threshold: Number(draft.threshold) };
  const model = { model: draft.model ?? "", input: [{ role: "user", content: draft.instructions }] };
  switch (type) {
    case "string_check":
      return { type, name, operation: draft.operation, input: OUTPUT, reference: draft.reference };
    case "text_similarity":
      return { type, name, evaluation_metric: draft.metric, input: OUTPUT, reference: draft.reference, ...threshold };
    case "score_model":
      return { type, name, ...model, range: [0, 1], ...threshold };
    case "label_model":
      return { type, name, ...model, labels: split(draft.labels), passing_labels: split(draft.passing) };
  }
}

function split(text: string): string[] {
  return text.split(",").flatMap((each) => each.trim() || []);
}
