/** GET /v1/organization/requests/export: recorded requests as lines for fine-tuning and for evaluations. */

import { z } from "zod";
import type { ContentMessage } from "../../../contracts/chat-content.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { inDollars } from "../../../kernel/nano-dollars.ts";
import { named } from "../../openapi/named.ts";
import { toChatMessage, toChoices } from "../chat/recorded-messages.ts";
import type { Feedback } from "./organization-request-content.ts";
import { queryDecimal, requestFilters } from "./organization-requests.ts";

export const RequestExportQuery = lazy.strictObject(() => ({
  ...requestFilters(),
  format: z
    .enum(["fine_tuning", "evals"])
    .default("fine_tuning")
    .describe(
      "fine_tuning: `messages` and `tools` of chats that were answered, as OpenAI and most trainers read them. evals: an `item` with messages, answer, feedback, time and cost, and the `sample`, as OpenAI's evals read them.",
    ),
  min_score: queryDecimal(z.number().min(0).max(1))
    .optional()
    .describe("Only requests whose feedback has at least this mean score."),
  query: z.string().min(1).max(1000).optional().describe("Only requests with these words, as in the search."),
}));

const nullable = z.string().nullable();
const numberOrNull = z.number().nullable();

export const RequestExportLine = named(
  "RequestExportLine",
  z.union([
    lazy
      .object(() => ({
        messages: z.array(z.looseObject({ role: z.string() })),
        tools: z
          .array(z.object({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }))
          .optional(),
      }))
      .describe("Of the format `fine_tuning`."),
    lazy
      .object(() => ({
        item: z.object({
          request_id: z.string(),
          project_id: z.string(),
          ended_at: z.number(),
          operation: z.string(),
          status: z.int(),
          model: nullable,
          messages: z.array(z.looseObject({ role: z.string() })),
          output: nullable,
          score: numberOrNull,
          tags: z.array(z.string()),
          comments: z.array(z.string()),
          duration_ms: z.number(),
          input_tokens: numberOrNull,
          output_tokens: numberOrNull,
          cost_usd: numberOrNull,
        }),
        sample: z.object({
          model: nullable,
          output_text: nullable,
          choices: z.array(z.looseObject({ index: z.int() })),
        }),
      }))
      .describe("Of the format `evals`."),
  ]),
);

interface Recorded {
  entry: {
    id: string;
    at: number;
    projectId: string;
    operation: string;
    status: number;
    model: string | null;
    answeredBy: string | null;
    durationMilliseconds: number;
    promptTokens: number | null;
    completionTokens: number | null;
    costNanoDollars: number | null;
  };
  inputMessages: readonly ContentMessage[];
  outputMessages: readonly ContentMessage[];
  tools?: readonly { name: string; description?: string | undefined; parameters?: unknown }[] | undefined;
  isTruncated?: boolean | undefined;
}

/** Mean score of the feedback about a request; undefined without any. */
export function scoreOf(feedback: readonly Feedback[]): number | undefined {
  const scores = feedback.flatMap(({ score }) => score ?? []);
  return scores.length === 0 ? undefined : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

/** Returns the object of a line; undefined for a request that is no example: no chat, without its answer, or cut. */
export function toFineTuningLine({ entry, inputMessages, outputMessages, tools = [], isTruncated }: Recorded) {
  const [answer] = toChoices(outputMessages);
  const isChat = inputMessages.every(({ role }) => ROLES.has(role));
  if (answer === undefined || !isChat || isTruncated || entry.status >= 400 || inputMessages.length === 0) {
    return undefined;
  }
  const { content, tool_calls } = answer.message as { content: string | null; tool_calls?: unknown };
  if (content === null && tool_calls === undefined) return undefined;
  return {
    messages: [
      ...inputMessages.map(toChatMessage),
      { role: "assistant", content, ...(tool_calls !== undefined && { tool_calls }) },
    ],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
  };
}

const ROLES: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant", "tool"]);

export function toEvalLine({ entry, inputMessages, outputMessages }: Recorded, feedback: readonly Feedback[]) {
  const choices = toChoices(outputMessages);
  const output = choices[0]?.message.content ?? null;
  return {
    item: {
      request_id: entry.id,
      project_id: entry.projectId,
      ended_at: entry.at / 1000,
      operation: entry.operation,
      status: entry.status,
      model: entry.model,
      messages: inputMessages.map(toChatMessage),
      output,
      score: scoreOf(feedback) ?? null,
      tags: [...new Set(feedback.flatMap(({ tags }) => tags))],
      comments: feedback.flatMap(({ comment }) => comment ?? []),
      duration_ms: entry.durationMilliseconds,
      input_tokens: entry.promptTokens,
      output_tokens: entry.completionTokens,
      cost_usd: inDollars(entry.costNanoDollars),
    },
    sample: { model: entry.answeredBy, output_text: output, choices },
  };
}
