/** A chat model that says what its script says. */

import { setTimeout as delay } from "node:timers/promises";
import { Fault, invalidRequest, unavailable } from "../../faults.ts";
import type { ChatEvent, ChatModel, ChatRequest, FinishReason } from "../chat-model.ts";
import type { ModelHealth } from "../engine.ts";
import { PLAIN_TEXT } from "../plain-chat.ts";
import type { ScriptedReply, ScriptedSettings } from "./settings.ts";
import { countPromptTokens, tokenize } from "./tokenize.ts";

export class ScriptedChat implements ChatModel {
  readonly task = "chat";
  readonly device = "cpu";
  readonly passesWire = false;
  readonly abilities = PLAIN_TEXT;
  readonly slots: number;
  readonly contextWindow: number;
  readonly #replies: readonly ScriptedReply[];
  readonly #closing = new AbortController();

  constructor(settings: ScriptedSettings) {
    this.slots = settings.slots;
    this.contextWindow = settings.contextWindow;
    this.#replies = settings.replies;
  }

  health(): ModelHealth {
    if (this.#closing.signal.aborted) return { state: "failed", reason: "it has been closed", retryAfterSeconds: 1 };
    return { state: "up" };
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    this.#throwIfClosed();
    const promptTokens = countPromptTokens(request.messages);
    if (promptTokens >= this.contextWindow) throw contextExceeded(promptTokens, this.contextWindow);
    const reply = this.#replyTo(request);
    const answer = planAnswer(reply, request, this.contextWindow - promptTokens);
    const until = AbortSignal.any([signal, this.#closing.signal]);
    await pause(reply.delayMsBeforeFirst, until);
    let generated = 0;
    const usage = () => ({ promptTokens, completionTokens: generated, cachedTokens: 0, estimated: false });
    let hasStarted = false;
    for (const piece of answer.pieces) {
      if (signal.aborted) return;
      this.#throwIfClosed();
      if (generated === reply.failAfterTokens) throw toFailure(reply.failWith);
      if (generated === reply.crashAfterTokens) await crash(reply.crashSignal);
      if (!hasStarted) yield { type: "start", promptTokens, cachedTokens: 0 };
      hasStarted = true;
      generated += 1;
      if (piece !== "") yield { type: "text", choice: 0, text: piece, completionTokens: generated };
      await pause(reply.delayMsPerToken, until);
    }
    if (signal.aborted) return;
    this.#throwIfClosed();
    if (generated === reply.failAfterTokens) throw toFailure(reply.failWith);
    if (generated === reply.crashAfterTokens) await crash(reply.crashSignal);
    if (!hasStarted) yield { type: "start", promptTokens, cachedTokens: 0 };
    yield { type: "choice-end", choice: 0, reason: answer.reason };
    yield { type: "finish", usage: usage() };
  }

  #replyTo(request: ChatRequest): ScriptedReply & { text: string } {
    const said = request.messages.findLast((message) => message.role === "user")?.content ?? "";
    const reply = this.#replies.find(({ match }) => matches(match, said));
    if (reply === undefined) throw invalidRequest("The script has no reply to this message.", "messages");
    return { ...reply, text: reply.text ?? said };
  }

  #throwIfClosed(): void {
    if (this.#closing.signal.aborted) throw unavailable("The scripted model has been closed.", "engine_failed", 1);
  }
}

function matches(match: ScriptedReply["match"], said: string): boolean {
  if (match === undefined) return true;
  return typeof match === "string" ? said.includes(match) : said.search(match) >= 0;
}

interface PlannedAnswer {
  /** One for each token generated; "" where a stop text took all of it. */
  pieces: string[];
  reason: FinishReason;
}

/** What is said before a bound or a stop text ends it. */
function planAnswer(
  reply: { text: string; finishReason: FinishReason },
  request: ChatRequest,
  room: number,
): PlannedAnswer {
  const tokens = tokenize(reply.text);
  const bound = Math.min(request.maxTokens ?? Number.POSITIVE_INFINITY, room);
  const pieces = tokens.slice(0, bound);
  const stop = firstStop(pieces.join(""), request.stop);
  if (stop !== undefined) return { pieces: cut(pieces, stop.start, stop.end), reason: "stop" };
  return { pieces, reason: pieces.length < tokens.length ? "length" : reply.finishReason };
}

function firstStop(text: string, stops: readonly string[]): { start: number; end: number } | undefined {
  const found = stops
    .filter((stop) => stop !== "")
    .map((stop) => ({ start: text.indexOf(stop), end: text.indexOf(stop) + stop.length }))
    .filter(({ start }) => start >= 0);
  return found.sort((a, b) => a.end - b.end)[0];
}

/** Tokens up to the one that completes the stop text were generated; only what stands before it is said. */
function cut(pieces: readonly string[], start: number, end: number): string[] {
  const kept: string[] = [];
  let position = 0;
  for (const piece of pieces) {
    if (position >= end) break;
    kept.push(piece.slice(0, Math.max(0, start - position)));
    position += piece.length;
  }
  return kept;
}

function contextExceeded(promptTokens: number, contextWindow: number): Fault {
  return invalidRequest(
    `This model's context window is ${contextWindow} tokens, but the messages take ${promptTokens} and the answer needs at least 1.`,
    "messages",
    "context_length_exceeded",
  );
}

function toFailure(failWith: ScriptedReply["failWith"]): Error {
  if (failWith.kind === "bug") return new Error(failWith.message);
  return new Fault(failWith.kind, failWith.message, failWith);
}

/** What was said before reaches the reader: it leaves this process a turn of the event loop later. */
async function crash(signal: NodeJS.Signals): Promise<void> {
  await delay(20);
  process.kill(process.pid, signal);
  await delay(1000);
}

/** Ends early, without throwing, once the signal aborts. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds > 0) await delay(milliseconds, undefined, { signal }).catch(() => {});
}
