/** List `guardrails` and section `guardrail_services`. */

import { z } from "zod";
import { guardrailList } from "../../contracts/guardrail.ts";
import { mapping } from "../../kernel/settings/mapping.ts";
import { webhookSecret, webhookUrl } from "../../kernel/settings/webhooks.ts";

export const guardrailSettings = guardrailList
  .default([])
  .describe(
    "Guardrails of all requests, before those of the model and the project. They run in order; moderation is always last.",
  );

const timeoutSeconds = z.number().min(0.1).max(60);

const webhook = mapping(() => ({
  name: z
    .string()
    .regex(/^[\w-]{1,64}$/, { error: "must be 1 to 64 letters, digits, _ or -" })
    .describe("Name by which guardrails refer to it."),
  url: webhookUrl.describe("Receives a POST for each check. Redirects are not followed."),
  secret: webhookSecret,
  timeout_seconds: timeoutSeconds.default(5).describe("Time after which an answer counts as a failure."),
  on_failure: z
    .enum(["block", "pass"])
    .default("block")
    .describe("What happens to a request while the webhook fails. block: it gets a 503. pass: it goes on unchecked."),
}));

const presidio = mapping(
  () => ({
    url: webhookUrl.describe("Address of a Presidio analyzer, such as http://presidio:3000."),
    timeout_seconds: timeoutSeconds.default(10).describe("Time after which an answer counts as a failure."),
  }),
  "Presidio analyzer of guardrails with `engine: presidio`. While it is away, their requests get a 503.",
);

export const guardrailServiceSettings = mapping(
  () => ({
    webhooks: z
      .array(webhook)
      .max(20)
      .refine((entries) => new Set(entries.map(({ name }) => name)).size === entries.length, {
        error: "must not contain a name twice",
      })
      .default([])
      .describe("Services of yours that decide about texts, signed as in the Standard Webhooks specification."),
    presidio: presidio.optional(),
  }),
  "Services that guardrails ask.",
);

export type GuardrailServiceSettings = z.output<typeof guardrailServiceSettings>;
export type GuardrailWebhook = GuardrailServiceSettings["webhooks"][number];

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    guardrails: readonly z.output<typeof guardrailSettings>[number][];
    guardrailServices: z.output<typeof guardrailServiceSettings>;
  }
}
