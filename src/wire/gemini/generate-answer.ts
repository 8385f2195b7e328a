/** Renders answers of generateContent and streamGenerateContent. */

import { z } from "zod";
import type { ChatEvent, FinishReason, TokenLogprob } from "../../contracts/chat-model.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import type { FormatAnswer } from "../chat-format.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { GeminiErrorAnswer } from "./error.ts";
import { isOfGemini, toThoughtSignature } from "./thought-signatures.ts";

const count = z.int().min(0);
const candidateLogprob = z.object({ token: z.string(), logProbability: z.number() });

export const GenerateContentAnswer = named(
  "GenerateContentAnswer",
  lazy.object(() => ({
    candidates: z
      .array(
        z.object({
          index: count,
          content: z.object({
            role: z.literal("model"),
            parts: z.array(
              z.object({
                text: z.string().optional(),
                thought: z.boolean().optional(),
                thoughtSignature: z.string().optional(),
                functionCall: z
                  .object({ id: z.string(), name: z.string(), args: z.record(z.string(), z.unknown()) })
                  .optional(),
              }),
            ),
          }),
          finishReason: z.enum(["STOP", "MAX_TOKENS", "SAFETY"]).optional(),
          logprobsResult: z
            .object({
              chosenCandidates: z.array(candidateLogprob),
              topCandidates: z.array(z.object({ candidates: z.array(candidateLogprob) })),
            })
            .optional(),
        }),
      )
      .optional(),
    usageMetadata: z
      .object({
        promptTokenCount: count,
        candidatesTokenCount: count,
        thoughtsTokenCount: count.optional(),
        cachedContentTokenCount: count.optional(),
        totalTokenCount: count,
      })
      .optional(),
    modelVersion: z.string(),
    responseId: z.string(),
  })),
);

/** A piece of a stream. */
export const GenerateContentEvent = named(
  "GenerateContentEvent",
  z.union([GenerateContentAnswer, GeminiErrorAnswer]).describe("An error ends the stream."),
);
export const GenerateContentEvents = named("GenerateContentEvents", z.array(GenerateContentEvent));

type Answer = AnswerOf<typeof GenerateContentAnswer>;
type Candidate = NonNullable<Answer["candidates"]>[number];
type Part = Candidate["content"]["parts"][number];

const REASONS: Readonly<Record<FinishReason, Candidate["finishReason"]>> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  content_filter: "SAFETY",
};

interface RenderOptions {
  /** Whether the answer shows the model's thoughts. */
  showsThoughts: boolean;
}

/** Yields the pieces of an answer. Throws failures. */
export async function* toPieces(
  { id, model, events }: Pick<FormatAnswer, "id" | "model" | "events">,
  options: RenderOptions,
): AsyncGenerator<Answer> {
  const identity = { modelVersion: model, responseId: id };
  const calls = new OpenCalls();
  for await (const event of events) {
    if (event.type === "finish") yield { usageMetadata: toUsage(event.usage), ...identity };
    if (event.type === "tool-call" || event.type === "tool-arguments") calls.add(event);
    const candidate = toCandidate(event, calls, options);
    if (candidate !== undefined) yield { candidates: [candidate], ...identity };
  }
}

/** Joins the pieces; {} if the client has disconnected. */
export async function toGenerateAnswer(
  answer: Pick<FormatAnswer, "id" | "model" | "events">,
  options: RenderOptions,
): Promise<Answer | object> {
  const candidates = new Map<number, Candidate>();
  for await (const { candidates: [piece] = [], ...end } of toPieces(answer, options)) {
    if (piece !== undefined) candidates.set(piece.index, join(candidates.get(piece.index), piece));
    if (end.usageMetadata !== undefined) return { candidates: [...candidates.values()], ...end };
  }
  return {};
}

function join(before: Candidate | undefined, piece: Candidate): Candidate {
  if (before === undefined) return piece;
  const parts = [...before.content.parts];
  for (const part of piece.content.parts) {
    const last = parts.at(-1);
    const isSame = last?.text !== undefined && part.text !== undefined && last.thought === part.thought;
    if (!isSame || last.thoughtSignature !== undefined) parts.push(part);
    else parts[parts.length - 1] = { ...last, ...part, text: last.text + part.text };
  }
  const [one, other] = [before.logprobsResult, piece.logprobsResult];
  const logprobsResult = one &&
    other && {
      chosenCandidates: [...one.chosenCandidates, ...other.chosenCandidates],
      topCandidates: [...one.topCandidates, ...other.topCandidates],
    };
  return { ...before, ...piece, content: { role: "model", parts }, ...(logprobsResult && { logprobsResult }) };
}

function toCandidate(event: ChatEvent, calls: OpenCalls, { showsThoughts }: RenderOptions): Candidate | undefined {
  const candidate = (parts: Part[], further: Partial<Candidate> = {}): Candidate => ({
    index: "choice" in event ? event.choice : 0,
    content: { role: "model", parts },
    ...further,
  });
  switch (event.type) {
    case "text":
      if (event.text === "" && event.logprobs === undefined) return undefined;
      return candidate([{ text: event.text }], event.logprobs && { logprobsResult: toLogprobs(event.logprobs) });
    case "reasoning": {
      const signature = toThoughtSignature(event);
      // Other models than Gemini's recognize a thought only with its text.
      if (!showsThoughts && signature !== undefined && isOfGemini(event)) {
        return candidate([{ text: "", thoughtSignature: signature }]);
      }
      if (!showsThoughts || (event.text === "" && signature === undefined)) return undefined;
      return candidate([
        { text: event.text, thought: true, ...(signature !== undefined && { thoughtSignature: signature }) },
      ]);
    }
    case "choice-end":
      return candidate(calls.take(event.choice), { finishReason: REASONS[event.reason] });
    default:
      return undefined;
  }
}

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
  signature: string | undefined;
}

/** Calls of each choice until it ends: clients get each complete. */
class OpenCalls {
  readonly #calls = new Map<number, Map<number, OpenCall>>();

  add(event: Extract<ChatEvent, { type: "tool-call" | "tool-arguments" }>): void {
    const calls = this.#calls.get(event.choice) ?? new Map<number, OpenCall>();
    this.#calls.set(event.choice, calls);
    if (event.type === "tool-call") {
      const { id, name, signature } = event;
      calls.set(event.index, { id, name, signature: toThoughtSignature({ signature }), arguments: "" });
      return;
    }
    const call = calls.get(event.index);
    if (call !== undefined) call.arguments += event.text;
  }

  /** Throws a Fault for arguments that are not an object. */
  take(choice: number): Part[] {
    return [...(this.#calls.get(choice)?.values() ?? [])].map(({ id, name, arguments: text, signature }) => {
      const args = parseObject(text);
      if (args === undefined) {
        throw new Fault("answer-unfit", "The model wrote arguments of a tool call that are not a JSON object.");
      }
      return { functionCall: { id, name, args }, ...(signature !== undefined && { thoughtSignature: signature }) };
    });
  }
}

function toUsage({ promptTokens, completionTokens, cachedTokens, reasoningTokens = 0 }: TokenUsage) {
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: completionTokens - reasoningTokens,
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    ...(cachedTokens > 0 && { cachedContentTokenCount: cachedTokens }),
    totalTokenCount: promptTokens + completionTokens,
  };
}

function toLogprobs(logprobs: readonly TokenLogprob[]) {
  const toLogprob = ({ token, logprob }: Pick<TokenLogprob, "token" | "logprob">) => ({
    token,
    logProbability: logprob,
  });
  return {
    chosenCandidates: logprobs.map(toLogprob),
    topCandidates: logprobs.map(({ top }) => ({ candidates: top.map(toLogprob) })),
  };
}
