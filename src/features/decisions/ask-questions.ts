/** Asks a chat model the questions of one request, each of which is a chat with one token of an answer. */

import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatRequest } from "../../contracts/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../../contracts/default-chat-request.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { type DecisionAnswer, toDecisionAnswer } from "../../wire/openai/decisions/decision-answers.ts";
import { type Ask, withQuestion } from "../../wire/openai/decisions/decision-prompts.ts";
import {
  type DecisionQuestion,
  type ParsedDecision,
  toInputMessages,
} from "../../wire/openai/decisions/decisions-body.ts";
import { toUpstreamFields } from "../../wire/upstream-fields.ts";
import { answerQuestion } from "./answer-question.ts";
import { type DecisionCaller, QuestionChats } from "./question-chats.ts";
import { recordAnswers } from "./record-answers.ts";

interface Decided {
  /** Facts of the first chat, with the settlement of all. */
  answer: ChatAnswer;
  /** In question order. */
  answers: readonly DecisionAnswer[];
  usage: TokenUsage;
}

/** Questions of one request that are asked at the same time, once the first has shown what the model does. */
const CONCURRENCY = 4;

/** Resolves once all questions have answers. Throws the Fault of the first that fails, and asks no further ones then. */
export async function askQuestions(
  caller: DecisionCaller,
  { body, input, questions }: ParsedDecision,
): Promise<Decided> {
  const messages = toInputMessages(input);
  const { prompt_cache_key: promptCacheKey } = body;
  const base = { ...toRequest(body), promptCacheKey, callerHeaders: caller.callerHeaders };
  const chats = new QuestionChats(caller, base);
  const answerTo = async (question: DecisionQuestion, index: number): Promise<DecisionAnswer> => {
    const ask = (each: Ask) => chats.ask(index, toMessages(messages, question, each, index), each.labels);
    return toDecisionAnswer(question, await answerQuestion(question, ask));
  };
  const answers: DecisionAnswer[] = [];
  try {
    answers.push(await answerTo(questions[0] as DecisionQuestion, 0));
    await eachOf(questions, CONCURRENCY, async (question, index) => {
      answers[index] = await answerTo(question, index);
    });
  } finally {
    recordAnswers(chats, questions, answers);
  }
  const { first, usage } = chats.end();
  return { answer: { ...first, settlement: () => chats.settlement() }, answers, usage };
}

function toRequest(body: ParsedDecision["body"]): ChatRequest {
  return {
    ...DEFAULT_CHAT_REQUEST,
    ...{ model: body.model, messages: [], temperature: 0, maxTokens: 1 },
    ...toUpstreamFields(body),
  };
}

function toMessages(input: readonly ChatMessage[], question: DecisionQuestion, ask: Ask, index: number): ChatMessage[] {
  return withQuestion(input, question, ask, `questions[${index}]`);
}

/** Runs the work on all items but the first. Waits for what has begun before it throws. */
async function eachOf<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const rest = items.entries().drop(1);
  const worker = async () => {
    for (const [index, item] of rest) await work(item, index);
  };
  const ended = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
}
