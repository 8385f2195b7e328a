/** A chat model that gives configured replies. */

import { setTimeout as delay } from "node:timers/promises";
import type { ChatAbilities, ChatEvent, ChatModel, ChatRequest, RawPrompt } from "../../contracts/chat-model.ts";
import { messageText } from "../../contracts/message-text.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { invalidRequest, unavailable } from "../../kernel/faults.ts";
import type { HostedModule } from "../host/model-child.ts";
import { contextExceeded } from "../shared/context-exceeded.ts";
import { logprobsOf, type PlannedChoice, planChoice, type Step } from "./plan-answer.ts";
import { matches, pause, toFailure } from "./scripted-reply.ts";
import type { ScriptedReply, ScriptedSettings } from "./settings.ts";
import { countPromptTokens, tokenize } from "./tokenize.ts";

export class ScriptedChat implements ChatModel {
  readonly task = "chat";
  readonly device = "cpu";
  readonly abilities: ChatAbilities;
  readonly slots: number;
  readonly contextWindow: number;
  readonly #replies: readonly ScriptedReply[];
  readonly #closing = new AbortController();

  constructor(settings: ScriptedSettings) {
    this.abilities = settings.abilities;
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

  async countTokens({ messages }: ChatRequest): Promise<number> {
    return countPromptTokens(messages);
  }

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    this.#throwIfClosed();
    const { prompt } = request;
    const { userText, promptTokens } = promptOf(request);
    if (promptTokens >= this.contextWindow) throw contextExceeded(promptTokens, this.contextWindow, request);
    const reply = this.#replyTo(request, userText);
    const maxTokens = this.contextWindow - promptTokens;
    const choices = Array.from({ length: request.choices }, (_, choice) =>
      planChoice(reply, request, { choice, echo: userText, maxTokens }),
    );
    const until = AbortSignal.any([signal, this.#closing.signal]);
    await pause(reply.delayMsBeforeFirst, until);
    const start: ChatEvent[] = [{ type: "start", promptTokens, cachedTokens: 0 }];
    if (prompt?.echo === true) {
      start.push(...choices.keys().map((choice) => echoOf(userText, choice, request.topLogprobs)));
    }
    let generated = 0;
    let reasoningTokens = 0;
    for (const { choice, step } of inTurns(choices)) {
      if (signal.aborted) return;
      await this.#failAfter(reply, generated);
      yield* start.splice(0);
      generated += 1;
      if (step.type === "reasoning") reasoningTokens += 1;
      if (step.type !== "text" || step.text !== "") yield { ...step, choice, completionTokens: generated };
      await pause(reply.delayMsPerToken, until);
    }
    if (signal.aborted) return;
    await this.#failAfter(reply, generated);
    yield* start.splice(0);
    for (const [choice, { reason, stopText }] of choices.entries()) {
      yield { type: "choice-end", choice, reason, ...(stopText === undefined ? {} : { stopText }) };
    }
    const usage = { promptTokens, completionTokens: generated, cachedTokens: 0, reasoningTokens, estimated: false };
    yield { type: "finish", usage };
  }

  /** Fails or crashes where the reply says so. */
  async #failAfter(reply: ScriptedReply, generated: number): Promise<void> {
    this.#throwIfClosed();
    if (generated === reply.failAfterTokens) throw toFailure(reply.failWith);
    if (generated === reply.crashAfterTokens) await crash(reply.crashSignal);
  }

  #replyTo({ messages }: ChatRequest, userText: string): ScriptedReply {
    const last = messages.at(-1);
    const result = last?.role === "tool" ? messageText(last) : undefined;
    const reply = this.#replies.find(
      ({ match, matchTool }) =>
        matches(match, userText) && (matchTool === undefined || (result !== undefined && matches(matchTool, result))),
    );
    if (reply === undefined) throw invalidRequest("No configured reply matches this message.", "messages");
    return reply;
  }

  #throwIfClosed(): void {
    if (this.#closing.signal.aborted) throw unavailable("The scripted model has been closed.", "engine_failed", 1);
  }
}

/** Token IDs become the words of a text. */
function toText({ input }: RawPrompt): string {
  return typeof input === "string" ? input : input.join(" ");
}

function echoOf(text: string, choice: number, top: number | undefined): ChatEvent {
  if (top === undefined) return { type: "echo", choice, text };
  const tokens = tokenize(text);
  const logprobs = tokens.flatMap((token) => logprobsOf(token, tokens, top)?.logprobs ?? []);
  const echoed = logprobs.map((each, index) => ({ ...each, logprob: index === 0 ? undefined : each.logprob }));
  return { type: "echo", choice, text, logprobs: echoed };
}

/** Interleaves the choices token by token. */
function* inTurns(choices: readonly PlannedChoice[]): Generator<{ choice: number; step: Step }> {
  const longest = Math.max(...choices.map(({ steps }) => steps.length));
  for (let turn = 0; turn < longest; turn += 1) {
    for (const [choice, { steps }] of choices.entries()) {
      const step = steps[turn];
      if (step !== undefined) yield { choice, step };
    }
  }
}

/** Lets the earlier events leave this process, which takes one turn of the event loop. */
async function crash(signal: NodeJS.Signals): Promise<void> {
  await delay(20);
  process.kill(process.pid, signal);
  await delay(1000);
}

export const open: HostedModule["open"] = async (settings) => new ScriptedChat(settings as ScriptedSettings);

/** Text that replies are chosen by: the prompt of a completion, or the last message of the user. */
function promptOf({ prompt, messages }: ChatRequest): { userText: string; promptTokens: number } {
  if (prompt === undefined) {
    const question = messages.findLast((message) => message.role === "user");
    const userText = question === undefined ? "" : messageText(question);
    return { userText, promptTokens: countPromptTokens(messages) };
  }
  const userText = toText(prompt);
  return { userText, promptTokens: tokenize(userText + (prompt.suffix ?? "")).length };
}
