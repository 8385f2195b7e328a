/** Plans the scripted model's answer token by token, up to a limit or a stop sequence. */

import type { ChatEvent, ChatRequest, FinishReason, TokenLogprob } from "../../contracts/chat-model.ts";
import { newId } from "../../kernel/id.ts";
import type { ScriptedReply } from "./settings.ts";
import { tokenize } from "./tokenize.ts";

type GeneratedType = "text" | "reasoning" | "tool-call" | "tool-arguments";
type Without<Event> = Event extends unknown ? Omit<Event, "completionTokens" | "choice"> : never;

/** Event of one generated token; its text is "" if a stop sequence removed all of it. */
export type Step = Without<Extract<ChatEvent, { type: GeneratedType }>>;

export interface PlannedChoice {
  steps: Step[];
  reason: FinishReason;
  /** The stop text that ended it. */
  stopText?: string;
}

/** `echo`: text for replies without a text. `maxTokens`: what the context window leaves. */
export function planChoice(
  reply: ScriptedReply,
  request: ChatRequest,
  { choice, echo, maxTokens }: { choice: number; echo: string; maxTokens: number },
): PlannedChoice {
  const calls = callsOf(reply, request);
  const scripted = reply.texts === undefined ? reply.text : reply.texts[choice % reply.texts.length];
  const text = tokenize(scripted ?? (calls.length > 0 || reply.refusal !== undefined ? "" : echo));
  const reasoning = request.reasoningEffort === "none" ? [] : tokenize(reply.reasoning ?? "");
  const all: Step[] = [
    ...reasoning.map((piece): Step => ({ type: "reasoning", text: piece })),
    ...text.map((piece): Step => ({ type: "text", text: piece, ...logprobsOf(piece, text, request.topLogprobs) })),
    ...tokenize(reply.refusal ?? "").map((piece): Step => ({ type: "text", text: piece, isRefusal: true })),
    ...calls.flatMap((call, index) => stepsOfCall(call, index)),
  ];
  const steps = all.slice(0, Math.min(request.maxTokens ?? Number.POSITIVE_INFINITY, maxTokens));
  const stop = firstStop(steps.map(textOf).join(""), request.stop);
  if (stop !== undefined) return { steps: cut(steps, stop.start, stop.end), reason: "stop", stopText: stop.text };
  if (steps.length < all.length) return { steps, reason: "length" };
  return { steps, reason: reply.finishReason ?? (calls.length > 0 ? "tool_calls" : "stop") };
}

type Call = ScriptedReply["toolCalls"][number];

/** Only tools of the request that its choice allows. */
function callsOf(reply: ScriptedReply, { tools, toolChoice, parallelToolCalls }: ChatRequest): Call[] {
  const isAllowed = ({ name }: Call) => (typeof toolChoice === "object" ? toolChoice.name === name : true);
  const calls = reply.toolCalls.filter((call) => tools.some(({ name }) => name === call.name) && isAllowed(call));
  return toolChoice === "none" ? [] : calls.slice(0, parallelToolCalls ? undefined : 1);
}

function stepsOfCall(call: Call, index: number): Step[] {
  const id = newId("call_");
  const pieces = tokenize(JSON.stringify(call.arguments));
  return [
    { type: "tool-call", index, id, name: call.name },
    ...pieces.map((text): Step => ({ type: "tool-arguments", index, text })),
  ];
}

const CHOSEN_PROBABILITY = 0.9;

/** The chosen token has a probability of 0.9; the answer's other tokens have 0.1 together. */
export function logprobsOf(
  token: string,
  answer: readonly string[],
  top: number | undefined,
): { logprobs: TokenLogprob[] } | undefined {
  if (top === undefined) return undefined;
  const others = [...new Set(answer)].filter((other) => other !== token);
  const chosen = { ...bytesOf(token), logprob: Math.log(others.length === 0 ? 1 : CHOSEN_PROBABILITY) };
  const logprob = Math.log((1 - CHOSEN_PROBABILITY) / others.length);
  const alternatives = [chosen, ...others.map((other) => ({ ...bytesOf(other), logprob }))];
  return { logprobs: [{ ...chosen, top: alternatives.slice(0, top) }] };
}

function bytesOf(token: string): { token: string; bytes: number[] } {
  return { token, bytes: [...Buffer.from(token)] };
}

/** Stop sequences end the text, not reasoning or tool calls. */
function textOf(step: Step): string {
  return step.type === "text" ? step.text : "";
}

function firstStop(text: string, stops: readonly string[]): { start: number; end: number; text: string } | undefined {
  const matches = stops
    .filter((stop) => stop !== "")
    .map((stop) => ({ start: text.indexOf(stop), end: text.indexOf(stop) + stop.length, text: stop }))
    .filter(({ start }) => start >= 0);
  return matches.sort((a, b) => a.end - b.end)[0];
}

/** Counts the tokens up to the one that completes the stop sequence, and emits only the text before it. */
function cut(steps: readonly Step[], start: number, end: number): Step[] {
  const visibleSteps: Step[] = [];
  let position = 0;
  for (const step of steps) {
    if (position >= end) break;
    const text = textOf(step);
    visibleSteps.push(
      step.type === "text" ? { type: "text", text: text.slice(0, Math.max(0, start - position)) } : step,
    );
    position += text.length;
  }
  return visibleSteps;
}
