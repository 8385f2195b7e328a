import { toChatBody } from "../chat-body.ts";
import type { Answer, Parameters, Turn } from "../conversation.ts";
import { toResponseBody } from "../tools/response-body.ts";
import { usesServiceTools } from "../tools/service-tools.ts";
import { responseReader } from "../tools/stream-response.ts";
import { type AnswerReader, completionReader } from "./stream-answer.ts";

export interface AnswerRequest {
  model: string;
  /** Place among the models of the conversation. */
  column: number;
  /** Turns up to the one that is answered. */
  turns: readonly Turn[];
  /** Beginning of the answer that is continued. */
  before?: Answer;
}

/** Asks for an answer with the Responses API where the service runs tools, and with chat completions elsewhere. */
export function readerOf(parameters: Parameters, { turns, model, column }: AnswerRequest): AnswerReader {
  const body = toChatBody(model, parameters, turns, column);
  return usesServiceTools(parameters)
    ? responseReader(toResponseBody(body, { parameters, turns, column }))
    : completionReader(body);
}

/** Puts an answer in its column, after the beginning that it continues. */
export function withAnswer(answers: readonly Answer[], { column, before }: AnswerRequest, answer: Answer): Answer[] {
  const next = [...answers];
  next[column] = before === undefined ? answer : joined(before, answer);
  return next;
}

function joined(before: Answer, answer: Answer): Answer {
  const { tokens: _, ...rest } = answer;
  const calls = [...(before.serviceCalls ?? []), ...(answer.serviceCalls ?? [])];
  const citations = [...(before.citations ?? []), ...(answer.citations ?? [])];
  return {
    ...rest,
    text: before.text + answer.text,
    reasoning: [before.reasoning, answer.reasoning].filter(Boolean).join("\n\n"),
    alternatives: before.alternatives,
    ...(calls.length > 0 && { serviceCalls: calls }),
    ...(citations.length > 0 && { citations }),
  };
}
