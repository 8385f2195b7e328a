/** Adapters for the differences between tasks in the life of a request. */

import type { ChatModel, ChatRequest } from "../engines/chat-model.ts";
import { isChatProxy } from "../engines/chat-proxy.ts";
import type {
  Model,
  ModerationInput,
  ModerationModel,
  ModerationVerdict,
  SpeechModel,
  SpeechRequest,
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
} from "../engines/engine.ts";
import { estimatePromptTokens, estimateTextTokens, messageBytes } from "../engines/estimate-tokens.ts";
import { imagesIn, messageText } from "../engines/message-text.ts";
import type { CallerHeaders } from "../engines/open-model.ts";
import { singleEvent } from "../engines/single-event.ts";
import { type Fault, unsupportedValue } from "../faults.ts";
import { jsonBytes } from "../json-bytes.ts";
import type { UsageUpperBound } from "../quota/quota.ts";
import type { Usage } from "../usage.ts";
import { checkCapabilities } from "./capability-check.ts";
import { type ChatCall, type ChatRunEvent, forwarderOf } from "./chat-call.ts";

/** What a request waits for before a model can answer it. */
export type WaitReason = "loading" | "queued";

export interface TaskAdapter<Opened extends Model, Event> {
  task: Opened["task"];
  /** Returns the upper bound of its usage, for quota. */
  upperBound(): UsageUpperBound;
  /** Number of requested choices; default 1. */
  choices?: number;
  /** Returns a key that is equal for requests that benefit from the same deployment's prefix cache. */
  affinity(): string | undefined;
  /** Returns the Fault of a model that does not support the request, although another deployment may. */
  refusal(model: Opened): Fault | undefined;
  /** Does what needs no slot, before one is taken; undefined when there is nothing to do. Throws a Fault. */
  prepare?(model: Opened, signal: AbortSignal): Promise<void> | undefined;
  /** Called when the request begins to wait, and without a reason when the wait ends. */
  onWait?: ((reason: WaitReason | undefined) => void) | undefined;
  /** Starts the request. `id` is the catalog ID named in the answer. */
  begin(model: Opened, id: string, signal: AbortSignal): AsyncIterable<Event>;
  /** Whether events are buffered as fast as they arrive, which keeps a slow client from holding the slot. */
  drainsToBuffer(model: Opened): boolean;
  /** Updates `used` with the usage of this event; returns true for a part of the answer itself. */
  count(event: Event, used: Usage): boolean;
  /** Adds to `used` the cost of a request that was abandoned before it reported its usage. */
  countAbandoned(used: Usage): void;
  /** Detects the final event, without which an answer is incomplete. */
  isEnd: ((event: Event) => boolean) | undefined;
}

/** Adapts a chat. `project`: the one that the request counts for. */
export function chatAdapter(call: ChatCall, project: string): TaskAdapter<ChatModel, ChatRunEvent> {
  const { request, passThrough } = call;
  let prepared = request;
  // An upstream reports usage only at the end, but a truncated answer has read its prompt too.
  const countPrompt = (used: Usage) => {
    if (used.promptTokens > 0) return;
    used.promptTokens = estimatePromptTokens(request, passThrough?.promptBytes());
    used.estimated = true;
  };
  return {
    task: "chat",
    upperBound: () => chatUpperBound(call),
    choices: request.choices,
    affinity: () => affinityOf(request),
    refusal: (model) => checkCapabilities(call, model),
    prepare: (model, signal) => {
      prepared = request;
      return model.prepare?.({ ...request, project }, signal)?.then((ready) => {
        prepared = ready;
      });
    },
    begin: (model, id, signal) => {
      const asked = id === prepared.model ? prepared : { ...prepared, model: id };
      const forwarder = forwarderOf(call, model);
      if (forwarder === undefined) return model.chat(asked, signal);
      return forwarder.proxy.forward(asked, forwarder.passThrough, signal);
    },
    // A local answer is bounded by the context window; an upstream's is pulled at the client's pace.
    drainsToBuffer: (model) => !isChatProxy(model),
    count: (event, used) => {
      if (event.type !== "start" && event.type !== "finish") countPrompt(used);
      return countChat(event, used);
    },
    countAbandoned: countPrompt,
    isEnd: (event) => event.type === "finish",
  };
}

export const NO_UPPER_BOUND: UsageUpperBound = { promptTokens: 0, completionTokens: 0, audioBytes: 0, characters: 0 };
/** Markup tokens around the prompt and each message in the longest of common chat templates. */
const TOKENS_AROUND = 16;

/** Upper bound of the tokens of an image in common models; the answer reports the exact number. */
const TOKENS_PER_IMAGE = 4096;

/** Returns the upper bound of a chat's usage: a token has at least one byte, and models read tools as written. */
function chatUpperBound({ request, passThrough }: ChatCall): UsageUpperBound {
  const { messages, tools, format, maxTokens, choices } = request;
  const bytes = messages.reduce((sum, message) => sum + messageBytes(message) + 1, jsonBytes([[], tools, format]));
  const images = messages.reduce((sum, message) => sum + imagesIn(message).length, 0);
  return {
    promptTokens:
      Math.max(bytes, passThrough?.promptBytes() ?? 0) +
      TOKENS_PER_IMAGE * images +
      TOKENS_AROUND * (messages.length + 1),
    completionTokens: maxTokens === undefined ? undefined : maxTokens * choices,
    audioBytes: 0,
    characters: 0,
  };
}

const AFFINITY_LENGTH = 1024;

/**
 * Returns the affinity key: turns of one conversation, and conversations with the same long system prompt, share a
 * prefix.
 */
function affinityOf({ promptCacheKey, messages }: ChatRequest): string {
  if (promptCacheKey !== undefined) return `key:${promptCacheKey}`;
  let start = "";
  for (const message of messages) {
    start += `${message.role}:${messageText(message).slice(0, AFFINITY_LENGTH)}\n`;
    if (message.role === "user" || start.length >= AFFINITY_LENGTH) break;
  }
  return start.slice(0, AFFINITY_LENGTH);
}

function countChat(event: ChatRunEvent, used: Usage): boolean {
  switch (event.type) {
    case "start":
      used.promptTokens = event.promptTokens;
      used.cachedTokens = event.cachedTokens;
      return false;
    case "choice-end":
      return false;
    case "text":
    case "reasoning":
    case "tool-call":
    case "tool-arguments":
    case "frames":
      used.completionTokens = event.completionTokens;
      return true;
    case "finish":
      Object.assign(used, event.usage);
      return "completion" in event && event.completion !== undefined;
  }
}

export interface ModerationRequest {
  inputs: readonly ModerationInput[];
  /** Fault that names the first image; thrown for models without image support. */
  imageFault: Fault | undefined;
  callerHeaders?: CallerHeaders;
}

export type ModerationVerdicts = readonly ModerationVerdict[];

/** Adapts moderation, whose answer is one event with all verdicts. */
export function moderationAdapter(
  { inputs, imageFault, callerHeaders }: ModerationRequest,
  project: string,
): TaskAdapter<ModerationModel, ModerationVerdicts> {
  // Classifiers do not report how many tokens they read.
  const countInputs = (used: Usage) => {
    used.characters = inputs.reduce((sum, { text }) => sum + text.length, 0);
    used.promptTokens = estimateModeration(inputs);
    used.estimated = true;
  };
  return {
    task: "moderation",
    upperBound: () => ({ ...NO_UPPER_BOUND, promptTokens: estimateModeration(inputs) }),
    affinity: () => undefined,
    refusal: (model) => (model.takesImages ? undefined : imageFault),
    begin: (model, id, signal) =>
      singleEvent(async () => {
        const verdicts = await model.moderate(inputs, signal, { model: id, project, callerHeaders });
        return signal.aborted ? undefined : verdicts;
      }),
    drainsToBuffer: () => true,
    count: (_verdicts, used) => {
      countInputs(used);
      return true;
    },
    countAbandoned: countInputs,
    isEnd: undefined,
  };
}

function estimateModeration(inputs: readonly ModerationInput[]): number {
  return inputs.reduce((sum, { text }) => sum + estimateTextTokens(text), 0);
}

/** Adapts speech, whose events are samples; its usage counts characters and seconds. */
export function speechAdapter(request: Omit<SpeechRequest, "model">): TaskAdapter<SpeechModel, Float32Array> {
  let sampleRate = 1;
  return {
    task: "speech",
    upperBound: () => ({ ...NO_UPPER_BOUND, characters: request.text.length }),
    affinity: () => undefined,
    refusal: () => undefined,
    begin: (model, id, signal) => {
      sampleRate = model.sampleRate;
      return model.speak({ ...request, model: id }, signal);
    },
    drainsToBuffer: () => true,
    count: (samples, used) => {
      used.characters = request.text.length;
      used.audioSeconds += samples.length / sampleRate;
      return true;
    },
    countAbandoned: (used) => {
      used.characters = request.text.length;
    },
    isEnd: undefined,
  };
}

/** Maximum duration that an upstream may report; a usage record has 31 bits for its milliseconds. */
const MAX_AUDIO_SECONDS = (2 ** 31 - 1) / 1000;

/** Byte rate of 16-bit samples at 16 kHz; a compressed recording is longer, never shorter. */
const MAX_BYTES_PER_SECOND = 32_000;

const SAMPLES_PER_SECOND = 16_000;

/** Wraps samples, which may be iterated more than once, and reports the seconds that each iteration has read. */
function observeSeconds(samples: AsyncIterable<Float32Array>, onRead: (seconds: number) => void) {
  return {
    async *[Symbol.asyncIterator]() {
      let count = 0;
      for await (const chunk of samples) {
        count += chunk.length;
        onRead(count / SAMPLES_PER_SECOND);
        yield chunk;
      }
    },
  };
}

/** Adapts transcription; its usage counts the seconds of audio that were read. */
export function transcriptionAdapter(
  request: Omit<TranscriptionRequest, "model">,
): TaskAdapter<TranscriptionModel, TranscriptionEvent> {
  let heardSeconds = 0;
  const samples = observeSeconds(request.samples, (seconds) => {
    heardSeconds = Math.max(heardSeconds, seconds);
  });
  return {
    task: "transcription",
    upperBound: () => ({ ...NO_UPPER_BOUND, audioBytes: request.file.bytes }),
    affinity: () => undefined,
    refusal: (model) => refuseTranscription(request, model),
    begin: (model, id, signal) => model.transcribe({ ...request, samples, model: id }, signal),
    drainsToBuffer: () => true,
    count: (event, used) => {
      const seconds = event.type === "finish" ? event.audioSeconds : event.type === "segment" ? event.endSeconds : 0;
      used.audioSeconds = Math.max(used.audioSeconds, Math.min(seconds, MAX_AUDIO_SECONDS));
      return event.type !== "finish";
    },
    countAbandoned: (used) => {
      // An upstream receives the file, which is not decoded here.
      const seconds = heardSeconds > 0 ? heardSeconds : request.file.bytes / MAX_BYTES_PER_SECOND;
      used.audioSeconds = Math.max(used.audioSeconds, Math.min(seconds, MAX_AUDIO_SECONDS));
    },
    isEnd: (event) => event.type === "finish",
  };
}

function refuseTranscription(
  request: Omit<TranscriptionRequest, "model">,
  model: TranscriptionModel,
): Fault | undefined {
  const { languages, abilities } = model;
  if (request.language !== undefined && languages !== undefined && !languages.includes(request.language)) {
    const known = languages.join(", ");
    return unsupportedValue(
      `This model does not know the language '${request.language}'; it knows ${known}.`,
      "language",
    );
  }
  if (request.translate && !abilities.translation) {
    return unsupportedValue("This model does not translate; it transcribes only.", "model");
  }
  if (request.prompt !== undefined && !abilities.prompt) {
    return unsupportedValue("This model takes no prompt.", "prompt");
  }
  if (request.temperature !== 0 && !abilities.temperature) {
    return unsupportedValue("This model has no temperature other than 0.", "temperature");
  }
  if (request.wordTimes && !abilities.wordTimes) {
    const param = "timestamp_granularities";
    return unsupportedValue("This model does not report word timestamps; ask for those of segments.", param);
  }
  return undefined;
}
