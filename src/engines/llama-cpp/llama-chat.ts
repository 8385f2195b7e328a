import { BatchedChatModel } from "@parlance-inference/llama-batching/batched-chat-model";
import type { ChatAbilities, ChatEvent, ChatModel, ChatRequest } from "../../contracts/chat-model.ts";
import { toTextMessage } from "../../contracts/message-text.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { AsyncQueue } from "../../kernel/async/async-queue.ts";
import { toFault } from "./to-fault.ts";

type Options = ConstructorParameters<typeof BatchedChatModel>[0];

/** The chat model inside its child process. The host handles its crashes. */
export class LlamaChat implements ChatModel {
  readonly task = "chat";
  readonly usesGrammars = true;
  readonly abilities: ChatAbilities;
  readonly slots: number;
  readonly device: string;
  readonly gpuBytes: number | undefined;
  readonly contextWindow: number;
  readonly contextReason: ChatModel["contextReason"];
  readonly maxMessages: number;
  readonly samplingDefaults: ChatModel["samplingDefaults"];
  readonly #model: BatchedChatModel;

  /** Throws a ModelError when the chat template does not parse. */
  constructor(options: Options) {
    const model = new BatchedChatModel(options);
    this.slots = model.slots;
    this.device = model.device;
    this.gpuBytes = options.gpuBytes;
    this.contextWindow = model.contextWindow;
    this.contextReason = model.contextReason;
    this.maxMessages = model.maxMessages;
    this.samplingDefaults = model.samplingDefaults;
    this.abilities = {
      tools: true,
      jsonSchema: true,
      logprobs: true,
      vision: false,
      reasoning: model.reasons,
      choices: options.maxChoices,
      completions: true,
      continuation: true,
      infill: model.fillsInTheMiddle,
    };
    this.#model = model;
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {
    await this.#model.settled();
  }

  async countTokens(request: ChatRequest, signal: AbortSignal): Promise<number> {
    return this.#model.countTokens(toInput(request), signal).catch((failure: unknown) => {
      throw toFault(failure);
    });
  }

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const events = new AsyncQueue<ChatEvent>();
    this.#model.run(toInput(request), { signal, emit: (event) => events.push(event) }).then(
      () => events.end(),
      (failure: unknown) => events.end(toFault(failure)),
    );
    yield* events.read();
  }
}

/** Takes the beginning of the answer from the messages. Grammars begin with the answer, so a schema has no beginning. */
function toInput(request: ChatRequest): Parameters<BatchedChatModel["run"]>[0] {
  const messages = request.messages.map(toTextMessage);
  const { continuation, format, toolChoice, storesNothing, upstreamFields } = request;
  const isStorable = storesNothing !== true && !isInMemory(upstreamFields?.promptCacheRetention);
  const isConstrained = format.type !== "text" || toolChoice === "required" || typeof toolChoice === "object";
  if (continuation === undefined || (continuation === "preferred" && isConstrained))
    return { ...request, messages, isStorable };
  return { ...request, isStorable, messages: messages.slice(0, -1), prefill: messages.at(-1)?.content };
}

/** Both spellings are in use. */
function isInMemory(retention: string | undefined): boolean {
  return retention === "in_memory" || retention === "in-memory";
}
