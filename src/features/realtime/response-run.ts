/** One response of a session: chat, and speech while the answer is written. */

import { projectOf } from "../../contracts/caller.ts";
import type { ChatCall } from "../../contracts/chat-call.ts";
import type { FinishReason } from "../../contracts/chat-model.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import type { CountedRequest } from "../../inference/quota.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { type AnswerPart, type PartEvent, toAnswerParts } from "../../wire/answer-parts.ts";
import type { ResponseParameters } from "../../wire/realtime/client-events.ts";
import type { ConversationItem } from "../../wire/realtime/conversation-items.ts";
import { toRealtimeCall } from "../../wire/realtime/realtime-call.ts";
import { type EndedResponse, toResponseObject } from "../../wire/realtime/response-object.ts";
import type { ResponseParts } from "../../wire/responses/responses-format.ts";
import type { ContentReading } from "../files/index.ts";
import { type LoopRequest, type ServiceFunction, startToolLoop } from "../tools/index.ts";
import { askShortened } from "./ask-shortened.ts";
import { ResponseOutput } from "./response-output.ts";
import { isAborted, type SessionContext, untilAborted } from "./session-context.ts";
import type { SessionTools } from "./session-tools.ts";
import { SpeechOutput } from "./speech-output.ts";
import type { SpokenText } from "./spoken-text.ts";

export type CancelReason = "turn_detected" | "client_cancelled";

export interface ResponseRunOptions {
  context: SessionContext;
  parameters: ResponseParameters;
  /** Resolves with the items that the model reads, once they have their transcripts. */
  readItems: () => Promise<ConversationItem[]>;
  addItem: ((item: ConversationItem) => string | null) | undefined;
  tools: SessionTools;
  /** Keeps the times of an item's audio. */
  onSpoken: (itemId: string, spoken: readonly SpokenText[]) => void;
}

export class ResponseRun {
  readonly id = newId("resp_");
  readonly #options: ResponseRunOptions;
  readonly #output: ResponseOutput;
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  #cancelReason: CancelReason | undefined;
  #speech: SpeechOutput | undefined;
  #usage: TokenUsage | undefined;

  constructor(options: ResponseRunOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.context.signal, this.#abort.signal]);
    const { send } = options.context;
    this.#output = new ResponseOutput({ responseId: this.id, send, addItem: options.addItem });
  }

  cancel(reason: CancelReason): void {
    this.#cancelReason ??= reason;
    this.#abort.abort();
  }

  /** Resolves when the response is over, also when it failed. */
  async run(): Promise<void> {
    const { send, signal } = this.#options.context;
    send({ type: "response.created", response: this.#response({ status: "in_progress" }) });
    const answering = untilAborted(this.#signal, (onDisconnect) => this.#answer(onDisconnect));
    const ended = await answering.catch((failure: unknown) => this.#failed(failure));
    this.#endSpeech();
    this.#output.endAsIncomplete();
    if (!signal.aborted) send({ type: "response.done", response: this.#response(ended) });
  }

  async #answer(onDisconnect: OnDisconnect): Promise<EndedResponse> {
    const { context } = this.#options;
    const items = await this.#options.readItems();
    this.#throwIfAborted();
    const caller = await context.authenticate();
    const { beginRun, memory } = context.services;
    const run = beginRun({ caller, model: context.settings().model });
    const holding = memory.open(projectOf(caller));
    try {
      const answer = await this.#chat(items, run.watch(onDisconnect), (bytes) => holding.hold(bytes));
      run.answered(answer);
      const ended = await this.#read(answer);
      run.end();
      return ended;
    } catch (failure) {
      run.end(failure);
      throw failure;
    } finally {
      holding.release();
    }
  }

  async #read(answer: ChatAnswer & ResponseParts): Promise<EndedResponse> {
    const { context } = this.#options;
    const limits = shownLimits(answer.rateLimitStatus);
    if (limits.length > 0) context.send({ type: "rate_limits.updated", rate_limits: limits });
    let ended: EndedResponse = { status: "completed" };
    for await (const event of answer.parts ?? toAnswerParts(answer, false)) {
      switch (event.type) {
        case "item-start":
        case "item-event":
        case "item-stop":
          this.#output.appendItemEvent(event);
          break;
        case "part-start":
        case "part-delta":
        case "part-stop":
          await this.#appendPart(event);
          break;
        case "end":
          this.#usage = event.usage;
          ended = endOf(event.reason);
      }
    }
    this.#throwIfAborted();
    return ended;
  }

  async #appendPart(event: Extract<PartEvent, { part: AnswerPart }>): Promise<void> {
    const { part } = event;
    switch (event.type) {
      case "part-start":
        if (isText(part)) this.#beginMessage();
        else if (part.type === "tool-call") this.#output.beginCall(part.id, part.name);
        break;
      case "part-delta":
        if (isText(part)) {
          this.#output.appendText(event.text);
          this.#speech?.push(event.text);
        } else if (part.type === "tool-call") this.#output.appendArguments(event.text);
        await this.#options.context.flushed();
        break;
      case "part-stop":
        if (isText(part)) await this.#endMessage();
        else if (part.type === "tool-call") this.#output.endCall("completed");
    }
  }

  /** Asks the model, in a loop with the MCP tools of the session. `hold`: counts what the items refer to. */
  async #chat(
    items: ConversationItem[],
    onDisconnect: OnDisconnect,
    hold: ContentReading["hold"],
  ): Promise<ChatAnswer & ResponseParts> {
    const { context, parameters, tools } = this.#options;
    const { inference, maxToolCalls: maxCalls } = context.services;
    const settings = context.settings();
    const sent = parameters.tools ?? settings.tools;
    const options = { moderation: undefined, onDisconnect };
    const names = sent.flatMap((tool) => (tool.type === "function" ? [tool.name] : []));
    const open = tools.opener(sent, names);
    if (open === undefined) {
      let counted: CountedRequest | undefined;
      const count = async () => {
        counted ??= await inference.countEarly(await context.authenticate(), settings.model, "chat");
      };
      const run = async (call: ChatCall) => inference.chat(await context.authenticate(), call, { ...options, counted });
      const resolved = await this.#resolve(items, { hold, admit: count });
      return askShortened(resolved, settings.truncation, (each) => run(this.#toCall(each, [])));
    }
    const caller = await context.authenticate();
    if (parameters.tools !== undefined) tools.check(sent, caller, "response.tools");
    let functions: readonly ServiceFunction[] = [];
    let resolving: Promise<ConversationItem[]> | undefined;
    const request: LoopRequest = {
      model: settings.model ?? "",
      check: (current) => tools.checkAccess(sent, current, parameters.tools === undefined ? "session" : "response"),
      open: async (openContext) => {
        const opened = await open(openContext);
        functions = [...opened.functions.values()];
        return opened;
      },
      ask: async (run) => {
        resolving ??= this.#resolve(items, { hold });
        return askShortened(await resolving, settings.truncation, (each) => run(this.#toCall(each, functions)));
      },
    };
    return startToolLoop({ inference, caller, maxCalls }, request, options);
  }

  /** Puts content in place of what items refer to. */
  async #resolve(items: ConversationItem[], reading: Omit<ContentReading, "signal">): Promise<ConversationItem[]> {
    const { context } = this.#options;
    const of = { caller: await context.authenticate(), model: context.settings().model ?? "" };
    return context.services.content.inItems(of, items, { ...reading, signal: this.#signal });
  }

  #toCall(items: ConversationItem[], functions: readonly ServiceFunction[]): ChatCall {
    const { context, parameters } = this.#options;
    const settings = context.settings();
    return toRealtimeCall(
      {
        model: settings.model ?? "",
        instructions: parameters.instructions ?? settings.instructions,
        tools: parameters.tools ?? settings.tools,
        toolChoice: parameters.tool_choice ?? settings.toolChoice,
        parallelToolCalls: parameters.parallel_tool_calls ?? settings.parallelToolCalls,
        maxOutputTokens: parameters.max_output_tokens ?? settings.maxOutputTokens,
        reasoningEffort: parameters.reasoning?.effort ?? settings.reasoningEffort,
        callerHeaders: context.callerHeaders,
        functions,
      },
      items,
    );
  }

  #beginMessage(): void {
    const { context, parameters } = this.#options;
    const settings = context.settings();
    const modality = parameters.output_modalities?.[0] ?? settings.outputModality;
    this.#output.beginMessage(modality);
    if (modality === "text") return;
    this.#speech = new SpeechOutput({
      context,
      voice: parameters.audio?.output?.voice ?? settings.voice,
      signal: this.#signal,
      onAudio: (audio) => this.#output.appendAudio(audio),
    });
  }

  async #endMessage(): Promise<void> {
    await this.#speech?.end();
    this.#throwIfAborted();
    this.#endSpeech();
    this.#output.endMessage("completed");
  }

  /** Keeps the times of the audio, and of an interrupted transcript what was spoken. */
  #endSpeech(): void {
    const { message } = this.#output;
    if (this.#speech === undefined || message === undefined) return;
    const { spoken } = this.#speech;
    const [content] = message.content;
    if (this.#signal.aborted && content?.type === "output_audio") {
      content.transcript = spoken
        .map(({ text }) => text)
        .join("")
        .trimEnd();
    }
    this.#options.onSpoken(message.id, spoken);
    this.#speech = undefined;
  }

  #failed(failure: unknown): EndedResponse {
    if (this.#cancelReason !== undefined && (isAborted(failure) || this.#signal.aborted)) {
      return { status: "cancelled", reason: this.#cancelReason };
    }
    this.#abort.abort();
    return { status: "failed", error: this.#options.context.toError(failure) };
  }

  #throwIfAborted(): void {
    if (this.#signal.aborted) throw new Fault("client-left", "The response was cancelled.");
  }

  #response(ended: EndedResponse): object {
    const { context, parameters, addItem } = this.#options;
    return toResponseObject({
      id: this.id,
      settings: context.settings(),
      parameters,
      isInConversation: addItem !== undefined,
      ended,
      output: this.#output.items,
      usage: this.#usage,
    });
  }
}

function isText({ type }: AnswerPart): boolean {
  return type === "text" || type === "refusal";
}

/** Limits that the request has, as the session's event shows them. */
function shownLimits({ requests, tokens }: ChatAnswer["rateLimitStatus"]): object[] {
  return Object.entries({ requests, tokens }).flatMap(([name, status]) =>
    status === undefined
      ? []
      : [{ name, limit: status.limit, remaining: status.remaining, reset_seconds: status.resetSeconds }],
  );
}

function endOf(reason: FinishReason): EndedResponse {
  if (reason === "length") return { status: "incomplete", reason: "max_output_tokens" };
  return reason === "content_filter" ? { status: "incomplete", reason } : { status: "completed" };
}
