/** One guardrail of a policy, as parlance.yaml and the API write it. */

import { ENTITIES } from "@parlance-inference/text-privacy/personal-data/find-personal-data";
import { isRegion } from "@parlance-inference/text-privacy/personal-data/phone";
import { z } from "zod";
import { listOf, parsedListOf } from "../kernel/list-of.ts";
import { mapping } from "../kernel/settings/mapping.ts";

const GUARDRAIL_TYPES = ["moderation", "pii", "secrets", "prompt_injection", "words", "topics", "webhook"] as const;

export type GuardrailType = (typeof GUARDRAIL_TYPES)[number];
export type GuardrailStage = "input" | "output";

const MAX_WORDS = 10_000;
const mode = z.enum(["score", "block"]);

const fields = mapping(() => ({
  type: z
    .enum(GUARDRAIL_TYPES)
    .describe(
      "What it looks for. moderation: harmful text, by a moderation model. pii: personal data. secrets: keys, passwords, connection strings. prompt_injection: attempts to override instructions, by their usual wordings. words: a list of words. topics: your own rules, which a chat model judges. webhook: what a service of yours decides.",
    ),
  action: z
    .enum(["mask_and_restore", "mask", "block", "report"])
    .optional()
    .describe(
      "mask: the model reads a placeholder such as <EMAIL_ADDRESS_1>. mask_and_restore: and the answer to the caller has the value again. block: the request is refused, or the answer ends with the finish reason content_filter. report: it is only recorded. Default: mask_and_restore for pii and secrets, otherwise block.",
    ),
  on: listOf(z.enum(["input", "output"]))
    .min(1)
    .optional()
    .describe(
      "Whether it checks what a model reads, what it answers, or both. Default: the input for pii, secrets and prompt_injection, otherwise both.",
    ),
  entities: listOf(z.string().regex(/^[A-Z][A-Z_]{1,40}$/, { error: "must be a name such as EMAIL_ADDRESS" }))
    .min(1)
    .max(100)
    .optional()
    .describe("pii: entities to look for, named as in Presidio. Default: all but URL."),
  regions: listOf(z.string().regex(/^[A-Z]{2}$/, { error: "must be a region of two capital letters, such as DE" }))
    .min(1)
    .max(50)
    .optional()
    .describe(
      "pii: regions whose phone numbers are found without a country code. Default: US, GB, DE, FR, ES, IT, NL.",
    ),
  engine: z
    .enum(["local", "presidio"])
    .optional()
    .describe(
      "pii: who looks. local: this process. presidio: the server of guardrail_services.presidio; requests fail while it is away. Default: local.",
    ),
  language: z
    .string()
    .regex(/^[a-z]{2}$/, { error: "must be an ISO 639-1 code, such as en" })
    .optional()
    .describe("pii with presidio: language of the texts. Default: en."),
  score_threshold: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe("pii with presidio: minimum score of a match. Default: 0.5."),
  unreadable: z
    .enum(["block", "pass"])
    .optional()
    .describe(
      "pii and secrets: what to do with content that has no text to check, such as images, audio and token IDs. Default: block; pass for the action report.",
    ),
  words: parsedListOf(z.string().trim().min(1).max(200))
    .min(1)
    .max(MAX_WORDS)
    .optional()
    .describe(`words: words and phrases, at most ${MAX_WORDS}, without regard to case.`),
  substring: z.boolean().optional().describe("words: whether a word also counts within a longer one. Default: false."),
  rules: parsedListOf(z.string().trim().min(1).max(1000))
    .min(1)
    .max(50)
    .optional()
    .describe('topics: what a text must not be about or do, one sentence each, such as "It asks for legal advice."'),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      "moderation: the moderation model. Default: the first one that the key may use. topics: the chat model that judges.",
    ),
  webhook: z
    .string()
    .regex(/^[\w-]{1,64}$/, { error: "must be the name of an entry of guardrail_services.webhooks" })
    .optional()
    .describe("webhook: its name in guardrail_services.webhooks."),
  input: mode.optional().describe("moderation: whether messages are scored or blocked. Default: not moderated."),
  output: mode.optional().describe("moderation: whether answers are scored or blocked. Default: not moderated."),
  unsupported_language: mapping(() => ({
    action: z.enum(["pass", "refuse", "model"]),
    model: z.string().min(1).max(200).optional(),
  }))
    .optional()
    .describe("moderation: what to do with text in a language that the model does not know. Default: pass."),
}));

type Field = keyof z.input<typeof fields>;

const TEXT_FIELDS = ["action", "on"] as const;
/** Fields of each type; the first list is required. */
const FIELDS: Readonly<Record<GuardrailType, readonly [required: readonly Field[], optional: readonly Field[]]>> = {
  moderation: [[], ["model", "input", "output", "unsupported_language"]],
  pii: [[], [...TEXT_FIELDS, "entities", "regions", "engine", "language", "score_threshold", "unreadable"]],
  secrets: [[], [...TEXT_FIELDS, "unreadable"]],
  prompt_injection: [[], ["action"]],
  words: [["words"], [...TEXT_FIELDS, "substring"]],
  topics: [["rules", "model"], [...TEXT_FIELDS]],
  webhook: [["webhook"], ["on"]],
};
const MASKING: ReadonlySet<GuardrailType> = new Set(["pii", "secrets", "words"]);

export const guardrail = fields.superRefine((entry, context) => {
  const { type, action, input, output, unsupportedLanguage } = entry;
  const issue = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  for (const [field, problem] of fieldProblems(entry)) issue(field, problem);
  if (action?.startsWith("mask") && !MASKING.has(type)) issue("action", `must be block or report for ${type}`);
  if (type === "words" && action === "mask_and_restore") issue("action", "must be mask, block or report for words");
  if (type === "moderation" && input === undefined && output === undefined && unsupportedLanguage === undefined) {
    issue("input", "set input, output or unsupported_language");
  }
  if (type === "pii" && entry.engine !== "presidio") {
    const entity = entry.entities?.find((each) => !ENTITIES.includes(each));
    if (entity !== undefined) issue("entities", `${entity} is not one of ${ENTITIES.join(", ")}`);
    const region = entry.regions?.find((each) => !isRegion(each));
    if (region !== undefined) issue("regions", `${region} is not a region with phone numbers`);
  }
  if ((unsupportedLanguage?.action === "model") !== (unsupportedLanguage?.model !== undefined)) {
    issue("unsupported_language", "set a model with the action model, and only then");
  }
});

/** Problems of fields that the type does not have, or that it requires. */
function fieldProblems(entry: z.output<typeof fields>): [field: string, problem: string][] {
  const [required, optional] = FIELDS[entry.type];
  const names = Object.entries(entry)
    .filter(([, value]) => value !== undefined)
    .map(([key]) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const applicable: readonly string[] = ["type", ...required, ...optional];
  const unknown = names.filter((name) => !applicable.includes(name));
  const missing = required.filter((name) => !names.includes(name));
  return [
    ...unknown.map((name): [string, string] => [name, `does not apply to ${entry.type}`]),
    ...missing.map((name): [string, string] => [name, `is required for ${entry.type}`]),
  ];
}

export type Guardrail = z.output<typeof guardrail>;

/** A policy: its guardrails run in order. */
export const guardrailList = parsedListOf(guardrail)
  .max(50)
  .refine((entries) => entries.filter(({ type }) => type === "moderation").length <= 1, {
    error: "must not contain more than one moderation",
  });

type ActiveAction = NonNullable<Guardrail["action"]>;

export function actionOf({ type, action }: Guardrail): ActiveAction {
  return action ?? (type === "pii" || type === "secrets" ? "mask_and_restore" : "block");
}

const INPUT_ONLY: ReadonlySet<GuardrailType> = new Set(["pii", "secrets", "prompt_injection"]);

export function checks({ type, on }: Guardrail, stage: GuardrailStage): boolean {
  return on === undefined ? stage === "input" || !INPUT_ONLY.has(type) : on.includes(stage);
}
