/** Recorded content of requests, feedback about them, and search. Not in OpenAI's API. */

import { z } from "zod";
import type { ContentMessage } from "../../../contracts/chat-content.ts";
import { invalidRequest } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { parsedListOf } from "../../../kernel/list-of.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { RequestDetails, RequestFeedback } from "../../openapi/request-answers.ts";
import { requestFilters, requestLimit } from "./organization-requests.ts";
import { toRequestEntry } from "./request-entries.ts";

const include = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",") : value),
  z.array(z.enum(["content"])).max(1),
);

export const RequestDetailsQuery = lazy.strictObject(() => ({
  include: include.optional(),
  "include[]": include.optional(),
}));

export function includesContent(query: z.output<typeof RequestDetailsQuery>): boolean {
  return (query["include[]"] ?? query.include ?? []).includes("content");
}

const MAX_QUERY_LENGTH = 1000;

export const RequestSearchQuery = lazy.strictObject(() => ({
  ...requestFilters(),
  limit: requestLimit(),
  query: z
    .string()
    .min(1)
    .max(MAX_QUERY_LENGTH)
    .describe("Words that the prompt and the answer contain together; a phrase in quotes."),
  page: z.string().min(1).max(64).optional(),
}));

const PAGE = /^page_(\d{1,15})$/;

/** Throws a Fault for a page that is not the `next_page` of an answer. */
export function toSearchPosition(page: string | undefined): number | undefined {
  if (page === undefined) return undefined;
  const [, number] = PAGE.exec(page) ?? [];
  if (number !== undefined) return Number(number);
  const message = "Invalid value for 'page': send the `next_page` of the previous response.";
  throw invalidRequest(message, "page", "invalid_value");
}

interface Content {
  inputMessages: readonly ContentMessage[];
  outputMessages: readonly ContentMessage[];
  tools?: readonly { name: string; description?: string | undefined; parameters?: unknown }[] | undefined;
  isTruncated?: boolean | undefined;
}

export interface Feedback {
  id: string;
  requestId: string;
  projectId: string;
  /** Key of the author; the user's ID in a session. */
  keyId: string;
  userId: string | null;
  /** 0 (bad) to 1 (good). */
  score: number | null;
  comment: string | null;
  tags: readonly string[];
  createdAt: number;
  updatedAt: number;
}

/** `content`: left out where it was not asked for; null where nothing is recorded. */
export function toRequestDetails(
  entry: Parameters<typeof toRequestEntry>[0],
  showsCauses: boolean,
  { isRecorded, content, feedback }: { isRecorded: boolean; content?: Content | null; feedback: readonly Feedback[] },
): AnswerOf<typeof RequestDetails> {
  return {
    ...toRequestEntry(entry, showsCauses),
    recorded: isRecorded,
    ...(content !== undefined && { content: content && toRecordedContent(content) }),
    feedback: feedback.map(toFeedback),
  };
}

function toRecordedContent({ inputMessages, outputMessages, tools = [], isTruncated = false }: Content) {
  return {
    input_messages: inputMessages as AnswerMessages,
    output_messages: outputMessages as AnswerMessages,
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    truncated: isTruncated,
  };
}

type AnswerMessages = NonNullable<AnswerOf<typeof RequestDetails>["content"]>["input_messages"];

export function toFeedback(feedback: Feedback): AnswerOf<typeof RequestFeedback> {
  return {
    id: feedback.id,
    object: "organization.request.feedback" as const,
    request_id: feedback.requestId,
    project_id: feedback.projectId,
    api_key_id: feedback.keyId,
    user_id: feedback.userId,
    score: feedback.score,
    comment: feedback.comment,
    tags: feedback.tags,
    created_at: Math.floor(feedback.createdAt / 1000),
    updated_at: Math.floor(feedback.updatedAt / 1000),
  };
}

const MAX_COMMENT_LENGTH = 4000;
const MAX_TAGS = 20;
const MAX_TAG_LENGTH = 64;

export const FeedbackBody = named(
  "FeedbackBody",
  lazy
    .strictObject(() => ({
      score: z.number().min(0).max(1).nullable().optional().describe("0 (bad) to 1 (good)."),
      comment: z.string().max(MAX_COMMENT_LENGTH).nullable().optional(),
      tags: parsedListOf(z.string().trim().min(1).max(MAX_TAG_LENGTH)).max(MAX_TAGS).optional(),
    }))
    .refine(({ score, comment, tags }) => score != null || comment != null || (tags ?? []).length > 0, {
      error: "it needs a score, a comment or tags",
      path: ["score"],
    }),
);
