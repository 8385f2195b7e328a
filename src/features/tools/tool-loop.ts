/** One answer with tools that this service runs: the model's turns, and the calls between them. */

import type { Caller } from "../../contracts/caller.ts";
import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import type { ChatOptions } from "../../inference/chat-requests.ts";
import type { Inference } from "../../inference/inference.ts";
import type { CountedRequest } from "../../inference/quota.ts";
import type { Settlement } from "../../inference/settlement.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import { addTokens, type TokenUsage } from "../../kernel/usage.ts";
import { toModerationInput } from "../../wire/moderation-input.ts";
import type { ItemEvent, ResponsePart } from "../../wire/responses/item-events.ts";
import type { ResponseParts } from "../../wire/responses/responses-format.ts";
import { combineSettlements, type ToolCall } from "./combine-settlements.ts";
import { readTurn, type Turn } from "./read-turn.ts";
import type { CallContext, PendingCall } from "./service-tool.ts";
import type { OpenTools } from "./service-tools.ts";
import { type CallEnd, runCalls, type WrittenCall } from "./tool-calls.ts";

export interface ToolLoopOptions {
  inference: Inference;
  caller: Caller;
  /** Calls of one answer, unless the request allows fewer. */
  maxCalls: number;
}

/** A request in its client's format. */
export interface LoopRequest {
  /** As the caller wrote it. */
  model: string;
  /** Calls that the request allows. */
  maxCalls?: number | undefined;
  /** Throws a Fault for a tool that the caller may not use at this step. */
  check(caller: Caller): void;
  /** Opens the tools, whose functions the calls of `ask` have from then on. Throws a Fault. */
  open(context: CallContext): Promise<OpenTools>;
  /** Passes the prompt to `run`, again with a shorter one where it does not fit and may be shortened. */
  ask(run: (call: ChatCall) => Promise<ChatAnswer>): Promise<ChatAnswer>;
}

export type LoopAnswer = ChatAnswer & Required<ResponseParts>;

/** Opens the tools and resolves once the model has begun its first turn. Throws a Fault. */
export function startToolLoop(options: ToolLoopOptions, request: LoopRequest, ask: ChatOptions): Promise<LoopAnswer> {
  return new ToolLoop(options, request, ask).start();
}

class ToolLoop {
  readonly #options: ToolLoopOptions;
  readonly #request: LoopRequest;
  readonly #ask: ChatOptions;
  readonly #abort = new AbortController();
  readonly #leaving: (() => void)[] = [];
  readonly #context: Omit<CallContext, "caller">;
  /** As it is at the present step. */
  #caller: Caller;
  /** Messages after those of the request: the calls of earlier turns and their results. */
  readonly #messages: ChatMessage[] = [];
  readonly #settlements: (() => Settlement | undefined)[] = [];
  /** Beginnings of the turns. */
  readonly #beganAt: number[] = [];
  /** Calls that ran. */
  readonly #toolCalls: ToolCall[] = [];
  readonly #maxCalls: number;
  #callCount = 0;
  /** Index of the first turn with a text. */
  #textRun: number | undefined;
  #turnCount = 0;
  #tools: OpenTools | undefined;
  #counted: CountedRequest | undefined;
  #answer: ChatAnswer | undefined;
  #used: TokenUsage | undefined;
  #hasEnded = false;

  constructor(options: ToolLoopOptions, request: LoopRequest, ask: ChatOptions) {
    this.#options = options;
    this.#request = request;
    this.#ask = ask;
    this.#caller = options.caller;
    this.#maxCalls = Math.min(options.maxCalls, request.maxCalls ?? Number.POSITIVE_INFINITY);
    const { signal } = this.#abort;
    const onAbort = (leave: () => void) => {
      if (signal.aborted) leave();
      // Not a listener of the signal, of which Node.js reports more than ten.
      else this.#leaving.push(leave);
    };
    const { inference } = options;
    this.#context = {
      signal,
      guardsOf: (name) => inference.guardsOfTool(this.#caller, name, ask.onDisconnect),
      runTool: async (tool, work) => {
        const beganAt = performance.now();
        const result = await inference.runTool(this.#caller, tool, onAbort, work);
        const { costNanoDollars, failure } = result;
        const durationMs = performance.now() - beganAt;
        const stage = { kind: "tool" as const, deployment: tool.label, beganAt, durationMs, failure };
        this.#toolCalls.push({ costNanoDollars, stage });
        return result;
      },
    };
    ask.onDisconnect(() => this.#close());
  }

  async start(): Promise<LoopAnswer> {
    try {
      // Lists of tools are read and checked, and approved calls run, before the model's first turn.
      if (this.#ask.isWithinRequest !== true) {
        const { inference } = this.#options;
        this.#counted = this.#ask.counted ?? (await inference.countEarly(this.#caller, this.#request.model, "chat"));
      }
      const { items, calls } = await this.#open();
      const first = [...items, ...(await this.#runPending(calls))];
      const answer = await this.#askModel();
      const parts = this.#parts(first);
      const moderation = () => this.#answer?.moderation;
      return {
        ...answer,
        parts,
        settlement: () => this.#settlement(),
        get moderation() {
          return moderation();
        },
      };
    } catch (failure) {
      this.#close();
      throw failure;
    }
  }

  /** Settlement of all turns and calls; undefined while further ones may follow. */
  #settlement(): Settlement | undefined {
    const hasLeft = !this.#hasEnded && this.#abort.signal.aborted;
    if (!this.#hasEnded && !hasLeft) return undefined;
    const options = { calls: this.#toolCalls, beganAt: this.#beganAt, textRun: this.#textRun };
    const combined = combineSettlements(this.#settlements, options);
    // The last turn may have ended before a call.
    return combined && hasLeft ? { ...combined, outcome: "client-left" } : combined;
  }

  async #open(): Promise<OpenTools> {
    this.#tools = await this.#request.open({ ...this.#context, caller: this.#caller });
    // The caller may have left meanwhile.
    this.#abort.signal.throwIfAborted();
    return this.#tools;
  }

  /** Runs the calls that earlier turns wrote and the caller has approved. */
  async #runPending(pending: readonly PendingCall[]): Promise<ItemEvent[]> {
    if (pending.length === 0) return [];
    const calls = pending.map((each): WrittenCall => {
      const { id } = each.call.toItem("in_progress");
      return { call: each.call, itemId: id, id: newId("call_"), name: each.name, arguments: each.arguments };
    });
    const events: ItemEvent[] = calls.flatMap(({ call, itemId, arguments: text }): ItemEvent[] => [
      { type: "item-start", item: call.toItem("in_progress") },
      ...[...call.begin(), ...call.append(text)].map((event) => ({ type: "item-event" as const, id: itemId, event })),
    ]);
    const running = this.#run(calls);
    let step = await running.next();
    for (; !step.done; step = await running.next()) events.push(step.value);
    this.#addTurn({ text: "", reasoning: [] }, step.value);
    return events;
  }

  async *#parts(first: readonly ItemEvent[]): AsyncGenerator<ResponsePart> {
    try {
      yield* first;
      for (;;) {
        const turn = yield* readTurn(this.#answer as ChatAnswer, this.#tools as OpenTools);
        const { end } = turn;
        if (turn.text !== "") this.#textRun ??= this.#turnCount - 1;
        // The client has left.
        if (end === undefined) return;
        this.#used = this.#used === undefined ? end.usage : addTokens(this.#used, end.usage);
        const ends = yield* this.#endCalls(turn, end.reason === "tool_calls" || end.reason === "stop");
        const isPaused = ends.some(({ outcome }) => outcome.type === "pause");
        const wasExhausted = this.#callCount - turn.calls.length >= this.#maxCalls;
        if (ends.length === 0 || turn.hasCallerCalls || isPaused || wasExhausted) {
          this.#end();
          yield { ...end, usage: this.#used };
          return;
        }
        this.#addTurn(turn, ends);
        await this.#askModel();
      }
    } finally {
      this.#end();
    }
  }

  /** Runs the calls of a turn, or ends them as incomplete. */
  async *#endCalls({ calls }: Turn, mayCall: boolean): AsyncGenerator<ItemEvent, CallEnd[]> {
    if (mayCall) {
      if (calls.length === 0) return [];
      await this.#refreshCaller();
      return yield* this.#run(calls);
    }
    for (const { call } of calls) yield { type: "item-stop", item: call.toItem("incomplete") };
    return [];
  }

  #run(calls: readonly WrittenCall[]): AsyncGenerator<ItemEvent, CallEnd[]> {
    const before = this.#callCount;
    this.#callCount += calls.length;
    const refusal = `The limit of ${this.#maxCalls} tool calls of this response is reached.`;
    const context = { ...this.#context, caller: this.#caller };
    return runCalls(calls, context, (index) => (before + index >= this.#maxCalls ? refusal : undefined));
  }

  /** Adds the calls of a turn and their results to what the model reads next. */
  #addTurn({ text: content, reasoning }: Pick<Turn, "text" | "reasoning">, ends: readonly CallEnd[]): void {
    const toolCalls = ends.map(({ call: { id, name, arguments: text } }) => {
      const isReadable = text.trim() !== "" && parseObject(text) !== undefined;
      return { id, name, arguments: isReadable ? text : "{}" };
    });
    const thought = reasoning.length === 0 ? {} : { reasoning };
    this.#messages.push({ role: "assistant", content, toolCalls, ...thought });
    for (const { call, outcome } of ends) {
      const result = outcome.type === "result" ? outcome.text : "";
      this.#messages.push({ role: "tool", toolCallId: call.id, content: result });
    }
  }

  /** Throws a Fault once the caller's key or session has ended, or its project has turned a tool of the request off. */
  async #refreshCaller(): Promise<void> {
    this.#caller = await this.#options.inference.currentCaller(this.#caller);
    this.#request.check(this.#caller);
    this.#abort.signal.throwIfAborted();
  }

  async #askModel(): Promise<ChatAnswer> {
    await this.#refreshCaller();
    const { inference } = this.#options;
    const isFirst = this.#turnCount === 0;
    this.#turnCount += 1;
    const { onWait, ...ask } = this.#ask;
    const beganAt = performance.now();
    const options = isFirst ? { ...ask, onWait, counted: this.#counted } : { ...ask, isWithinRequest: true };
    const run = (call: ChatCall) => inference.chat(this.#caller, this.#withTurns(call, isFirst), options);
    const answer = await this.#request.ask(run);
    this.#answer = answer;
    this.#settlements.push(answer.settlement);
    this.#beganAt.push(beganAt);
    return answer;
  }

  #withTurns(call: ChatCall, isFirst: boolean): ChatCall {
    const { toolChoice } = call.request;
    const isExhausted = this.#callCount >= this.#maxCalls;
    const { functions, deferred } = this.#tools as OpenTools;
    if (typeof toolChoice === "object") deferred.loadFunction(toolChoice.name);
    const isShown = (name: string) => !deferred.hides(name) && !(isExhausted && functions.has(name));
    const request = {
      ...call.request,
      messages: [...call.request.messages, ...this.#messages],
      ...(this.#messages.length > 0 && { continuation: undefined, repeatsBeginning: undefined }),
      // A forced call has been made; forcing it again would never end.
      toolChoice: isFirst || toolChoice === "none" ? toolChoice : ("auto" as const),
      tools: call.request.tools.filter(({ name }) => isShown(name)),
    };
    const { withDefaults } = call;
    return {
      ...call,
      request,
      moderationInput: () => toModerationInput(request),
      ...(withDefaults && { withDefaults: (defaults) => this.#withTurns(withDefaults(defaults), isFirst) }),
    };
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#close();
  }

  /** Ends what still runs. */
  #close(): void {
    this.#abort.abort(new Fault("client-left", "The client left."));
    for (const leave of this.#leaving.splice(0)) leave();
    void this.#tools?.close();
  }
}
