/** The events of webhooks: each one is defined here, and added to the outbox where it happens. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";

const apiKey = {
  id: z.string(),
  organization_id: z.string(),
  project_id: z.string().nullable().describe("null for admin keys"),
};

const amount = lazy.object(() => ({ value: z.number(), currency: z.literal("usd") }));

const batch = lazy.object(() => ({ id: z.string(), project_id: z.string() }));

const response = lazy.object(() => ({ id: z.string(), project_id: z.string() }));

/** By type: when it is sent, and the `data` of its payload. docs/reference/events.md is generated from it. */
export const WEBHOOK_EVENTS = {
  "webhook.test": {
    when: "An administrator tested the endpoint, whatever events it is configured for.",
    data: z.object({ message: z.string() }),
  },
  "api_key.created": {
    when: "A key was created. The event never has the key itself.",
    data: lazy.object(() => ({ ...apiKey, name: z.string(), kind: z.enum(["project", "admin"]) })),
  },
  "api_key.deleted": { when: "A key was deleted.", data: z.object(apiKey) },
  "spend_limit.reached": {
    when: "Spending reached 50, 80 or 100 % of a limit: once a month for each share, again after the limit has changed. Of several shares that one request reaches, the highest is sent.",
    data: lazy.object(() => ({
      scope_id: z.string().describe("organization, project or key"),
      organization_id: z.string(),
      percent: z.number().describe("50, 80 or 100"),
      limit: amount,
      spent: amount,
      month: z.string().describe("first day, such as 2026-11-01"),
      is_enforcing: z.boolean().describe("whether the limit refuses requests"),
    })),
  },
  "budget.reached": {
    when: "Spending reached a percentage of a budget or a spend alert: once a window for each percentage, again after the amount has changed. Of several percentages that one request reaches, the highest is sent.",
    data: lazy.object(() => ({
      budget_id: z.string().describe("budget or spend alert"),
      name: z.string().nullable(),
      organization_id: z.string(),
      project_id: z.string().nullable().describe("project whose spending counts; null: all"),
      subject: z.object({
        type: z.string().describe("organization, project, api_key, user, end_user or tag"),
        id: z.string(),
      }),
      interval: z.string().describe("day, week, month or total"),
      percent: z.number(),
      limit: amount,
      spent: amount,
      starts_at: z.number().describe("start of the window, in Unix seconds"),
      resets_at: z.number().nullable().describe("its end; null for total"),
      is_enforcing: z.boolean().describe("whether the budget refuses requests"),
    })),
  },
  "deployment.down": {
    when: "A deployment's circuit breaker opened, or its model cannot be loaded.",
    data: lazy.object(() => ({ deployment: z.string(), model: z.string(), reason: z.string() })),
  },
  "deployment.up": {
    when: "The deployment serves again.",
    data: lazy.object(() => ({ deployment: z.string(), model: z.string(), down_seconds: z.number() })),
  },
  "batch.completed": { when: "A batch has its results.", data: batch },
  "batch.failed": { when: "A batch was refused.", data: batch },
  "batch.expired": { when: "A batch did not finish in its completion window.", data: batch },
  "batch.cancelled": { when: "A batch was cancelled.", data: batch },
  "response.completed": { when: "A response in the background is complete.", data: response },
  "response.incomplete": {
    when: "A response in the background ended early, such as at its maximum of tokens.",
    data: response,
  },
  "response.failed": { when: "A response in the background failed.", data: response },
  "response.cancelled": { when: "A response in the background was cancelled.", data: response },
} as const satisfies Record<string, { when: string; data: z.ZodObject }>;

export type WebhookEventType = keyof typeof WEBHOOK_EVENTS;

export const WEBHOOK_EVENT_TYPES = Object.keys(WEBHOOK_EVENTS) as [WebhookEventType, ...WebhookEventType[]];

export type WebhookEvent<Type extends WebhookEventType = WebhookEventType> = {
  [Each in Type]: { type: Each; data: z.infer<(typeof WEBHOOK_EVENTS)[Each]["data"]> };
}[Type];
