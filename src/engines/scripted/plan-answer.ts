/** What the scripted model says, token by token, before a bound or a stop text ends it. */

import { randomBytes } from "node:crypto";
import type { ChatEvent, ChatRequest, FinishReason, TokenLogprob } from "../chat-model.ts";
import type { ScriptedReply } from "./settings.ts";
import { tokenize } from "./tokenize.ts";

type Said = "text" | "reasoning" | "tool-call" | "tool-arguments";
type Without<Event> = Event extends unknown ? Omit<Event, "completionTokens" | "choice"> : never;

/** The event of one generated token; its text may be "" where a stop text took all of it. */
export type Step = Without<Extract<ChatEvent, { type: Said }>>;

export interface PlannedChoice {
  steps: Step[];
  reason: FinishReason;
}

/** `said`: what is said where the script has no text of its own. `room`: most tokens. */
export function planChoice(
  reply: ScriptedReply,
  request: ChatRequest,
  { choice, said, room }: { choice: number; said: string; room: number },
): PlannedChoice {
  const calls = callsOf(reply, request);
  const scripted = reply.texts === undefined ? reply.text : reply.texts[choice % reply.texts.length];
  const text = tokenize(scripted ?? (calls.length > 0 ? "" : said));
  const reasoning = request.reasoningEffort === "none" ? [] : tokenize(reply.reasoning ?? "");
  const all: Step[] = [
    ...reasoning.map((piece): Step => ({ type: "reasoning", text: piece })),
    ...text.map((piece): Step => ({ type: "text", text: piece, ...logprobsOf(piece, text, request.topLogprobs) })),
    ...calls.flatMap((call, index) => stepsOfCall(call, index)),
  ];
  const steps = all.slice(0, Math.min(request.maxTokens ?? Number.POSITIVE_INFINITY, room));
  const stop = firstStop(steps.map(textOf).join(""), request.stop);
  if (stop !== undefined) return { steps: cut(steps, stop.start, stop.end), reason: "stop" };
  if (steps.length < all.length) return { steps, reason: "length" };
  return { steps, reason: reply.finishReason ?? (calls.length > 0 ? "tool_calls" : "stop") };
}

type Call = ScriptedReply["toolCalls"][number];

/** Only tools that the request has, and that its choice allows. */
function callsOf(reply: ScriptedReply, { tools, toolChoice, parallelToolCalls }: ChatRequest): Call[] {
  const isAllowed = ({ name }: Call) => (typeof toolChoice === "object" ? toolChoice.name === name : true);
  const calls = reply.toolCalls.filter((call) => tools.some(({ name }) => name === call.name) && isAllowed(call));
  return toolChoice === "none" ? [] : calls.slice(0, parallelToolCalls ? undefined : 1);
}

function stepsOfCall(call: Call, index: number): Step[] {
  const id = `call_${randomBytes(12).toString("hex")}`;
  const pieces = tokenize(JSON.stringify(call.arguments));
  return [
    { type: "tool-call", index, id, name: call.name },
    ...pieces.map((text): Step => ({ type: "tool-arguments", index, text })),
  ];
}

const PROBABILITY_OF_SAID = 0.9;

/** What is said has nine tenths of the probability, and the answer's other tokens share the last. */
function logprobsOf(
  token: string,
  answer: readonly string[],
  top: number | undefined,
): { logprobs: TokenLogprob[] } | undefined {
  if (top === undefined) return undefined;
  const others = [...new Set(answer)].filter((other) => other !== token);
  const said = { ...bytesOf(token), logprob: Math.log(others.length === 0 ? 1 : PROBABILITY_OF_SAID) };
  const logprob = Math.log((1 - PROBABILITY_OF_SAID) / others.length);
  const alternatives = [said, ...others.map((other) => ({ ...bytesOf(other), logprob }))];
  return { logprobs: [{ ...said, top: alternatives.slice(0, top) }] };
}

function bytesOf(token: string): { token: string; bytes: number[] } {
  return { token, bytes: [...Buffer.from(token)] };
}

/** Stop texts end what is said, not what is thought or called. */
function textOf(step: Step): string {
  return step.type === "text" ? step.text : "";
}

function firstStop(text: string, stops: readonly string[]): { start: number; end: number } | undefined {
  const found = stops
    .filter((stop) => stop !== "")
    .map((stop) => ({ start: text.indexOf(stop), end: text.indexOf(stop) + stop.length }))
    .filter(({ start }) => start >= 0);
  return found.sort((a, b) => a.end - b.end)[0];
}

/** Tokens up to the one that completes the stop text were generated; only what stands before it is said. */
function cut(steps: readonly Step[], start: number, end: number): Step[] {
  const kept: Step[] = [];
  let position = 0;
  for (const step of steps) {
    if (position >= end) break;
    const text = textOf(step);
    kept.push(step.type === "text" ? { type: "text", text: text.slice(0, Math.max(0, start - position)) } : step);
    position += text.length;
  }
  return kept;
}
