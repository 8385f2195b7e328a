/** Runs a model of any task in a supervised child process and returns a proxy for it. */

import type { ChatEvent, ChatRequest } from "../../contracts/chat-model.ts";
import type { EmbeddingResult, RerankRequest, RerankResult } from "../../contracts/embedding-model.ts";
import type { Model } from "../../contracts/engine.ts";
import type { SpeechEvent } from "../../contracts/speech-model.ts";
import type { TranscriptionEvent, TranscriptionRequest } from "../../contracts/transcription-model.ts";
import type { Logger } from "../../kernel/logger.ts";
import { checkedChat } from "../shared/checked-chat.ts";
import { withGrammars } from "../shared/compile-schemas.ts";
import type { CountCall } from "./count-call.ts";
import type { ModelFacts } from "./messages.ts";
import type { RankCall } from "./rank-call.ts";
import { SUPERVISION, Supervisor } from "./supervisor.ts";

export interface HostModelOptions {
  /** Name in logs and the process list. */
  name: string;
  /** Exports `open(settings, services)`, which returns the model; found with `siblingModule`. */
  module: URL;
  /** Passed to `open`. Must survive a structured clone. */
  settings: unknown;
  /** Environment variables in addition to those that every model's process gets, such as UV_THREADPOOL_SIZE. */
  environment?: Readonly<Record<string, string>>;
  /** Description of the model. Where set, the process starts on the first call instead of at once. */
  lazyFacts?: ModelFacts | undefined;
  logger: Logger;
  /** Aborts when the service stops before the model is open. */
  signal: AbortSignal;
}

export type Hosted<Opened extends Model> = Opened & {
  /** PID of the process that serves at present. */
  readonly pid: number | undefined;
};

/**
 * Resolves once the model can serve, or at once with `lazyFacts`. Throws the Fault of `open`, or one that says how the
 * process ended.
 */
export async function hostModel(options: HostModelOptions): Promise<Hosted<Model>> {
  const { signal, environment = {}, lazyFacts, ...rest } = options;
  const supervisor = new Supervisor({ ...SUPERVISION, ...rest, environment });
  const facts = lazyFacts === undefined ? await supervisor.open(signal) : supervisor.openLazily(lazyFacts);
  const common = {
    get pid() {
      return supervisor.pid;
    },
    health: () => supervisor.health(),
    close: () => supervisor.close(),
  };
  const countTokens = async ({ callerHeaders: _theirs, ...counted }: ChatRequest, until: AbortSignal) => {
    for await (const tokens of supervisor.call({ counted } satisfies CountCall, undefined, until))
      return tokens as number;
    throw until.reason;
  };
  const call = (request: ChatRequest, until: AbortSignal) =>
    supervisor.call(request, undefined, until) as AsyncIterable<ChatEvent>;
  const rerank = async ({ callerHeaders: _theirs, ...ranked }: RerankRequest, until: AbortSignal) => {
    for await (const result of supervisor.call({ ranked } satisfies RankCall, undefined, until))
      return result as RerankResult;
    throw until.reason;
  };
  switch (facts.task) {
    case "server":
      throw new Error("hostServer is for servers");
    case "chat":
      return Object.assign(common, facts, {
        // Headers may hold the caller's key, and no local model reads them.
        chat: ({ callerHeaders: _theirs, ...request }, until) =>
          facts.usesGrammars ? constrainedChat(request, until, call) : call(request, until),
        ...(facts.usesGrammars ? { prepare: withGrammars } : {}),
        ...(facts.countsTokens ? { countTokens } : {}),
      } satisfies Pick<Extract<Model, { task: "chat" }>, "chat" | "prepare" | "countTokens">);
    case "embedding":
      return Object.assign(common, facts, {
        embed: async ({ callerHeaders: _theirs, ...request }, until) => {
          for await (const result of supervisor.call(request, undefined, until)) return result as EmbeddingResult;
          throw until.reason;
        },
        ...(facts.ranks ? { rerank } : {}),
      } satisfies Pick<Extract<Model, { task: "embedding" }>, "embed" | "rerank">);
    case "moderation":
      return Object.assign(common, facts, {
        moderate: async (inputs, until, context) => {
          type Verdicts = Awaited<ReturnType<Extract<Model, { task: "moderation" }>["moderate"]>>;
          // Headers may hold the caller's key, and no local model reads them.
          const call = { inputs, context: context && { ...context, callerHeaders: undefined } };
          for await (const verdicts of supervisor.call(call, undefined, until)) return verdicts as Verdicts;
          throw until.reason;
        },
      } satisfies Pick<Extract<Model, { task: "moderation" }>, "moderate">);
    case "speech":
      return Object.assign(common, facts, {
        speak: ({ callerHeaders: _theirs, ...request }, until) =>
          supervisor.call(request, undefined, until) as AsyncIterable<SpeechEvent>,
      } satisfies Pick<Extract<Model, { task: "speech" }>, "speak">);
    case "transcription":
      return Object.assign(common, facts, {
        transcribe: (request, until) => transcribe(request, until, supervisor),
      } satisfies Pick<Extract<Model, { task: "transcription" }>, "transcribe">);
    case "image":
      throw new Error("Models of images run behind an upstream or another server");
  }
}

/** The model reads the samples, and its process has the voices: functions cannot be sent to it. */
async function* transcribe(
  { samples, file: _upload, callerHeaders: _theirs, speakers, ...request }: TranscriptionRequest,
  until: AbortSignal,
  supervisor: Supervisor,
): AsyncGenerator<TranscriptionEvent> {
  const voices = await speakers?.readVoices?.(until).catch((failure: unknown) => {
    if (!until.aborted) throw failure;
  });
  const known = speakers && { names: speakers.names, references: [], voices: voices ?? [] };
  yield* supervisor.call({ ...request, speakers: known }, samples, until) as AsyncIterable<TranscriptionEvent>;
}

/** Answers a request that `prepare` may have skipped. */
async function* constrainedChat(request: ChatRequest, signal: AbortSignal, call: Parameters<typeof checkedChat>[2]) {
  yield* checkedChat((await withGrammars(request, signal)) ?? request, signal, call);
}
