/** Messages between the service and a model's process. Structured clone keeps typed arrays as they are. */

import type { ChatModel } from "../../contracts/chat-model.ts";
import type { EmbeddingModel } from "../../contracts/embedding-model.ts";
import type { ImageModel } from "../../contracts/image-model.ts";
import type { ModerationModel } from "../../contracts/moderation-model.ts";
import type { SpeechModel } from "../../contracts/speech-model.ts";
import type { TranscriptionModel } from "../../contracts/transcription-model.ts";
import { Fault, type FaultDetails, type FaultKind } from "../../kernel/faults.ts";

export type ToChild =
  | { type: "open"; module: string; name: string; settings: unknown }
  /** `hasItems`: a stream of items follows, each sent when the child pulls it. */
  | { type: "call"; id: number; input: unknown; hasItems: boolean }
  | { type: "item"; id: number; item: unknown }
  | { type: "items-end"; id: number; failure: EncodedFailure | undefined }
  | { type: "abort"; id: number }
  | { type: "close" };

export type FromChild =
  | { type: "opened"; facts: ModelFacts }
  | { type: "open-failed"; failure: EncodedFailure }
  | { type: "warning"; message: string }
  /** The child has started another process, which ends with it. */
  | { type: "child-pid"; pid: number }
  | { type: "event"; id: number; event: unknown }
  | { type: "end"; id: number }
  | { type: "failed"; id: number; failure: EncodedFailure }
  | { type: "pull"; id: number };

type Methods =
  | "chat"
  | "countTokens"
  | "prepare"
  | "embed"
  | "rerank"
  | "moderate"
  | "speak"
  | "transcribe"
  | "generate"
  | "health"
  | "close";

/** The constant properties of an open model. */
export type ModelFacts =
  | ServerFacts
  | Omit<ChatModel, Methods>
  | Omit<EmbeddingModel, Methods>
  | Omit<ModerationModel, Methods>
  | Omit<SpeechModel, Methods>
  | Omit<TranscriptionModel, Methods>
  | Omit<ImageModel, Methods>;

/** Another program that serves a model over HTTP on this machine. */
export interface ServerFacts {
  task: "server";
  /** URL without the path. */
  origin: string;
  /** Bearer token that its requests need. */
  key: string;
  /** PID of the program, which holds the model's memory. */
  pid: number | undefined;
  /** Properties that it reports, as JSON. */
  properties: unknown;
}

export type EncodedFailure =
  | { type: "fault"; kind: FaultKind; message: string; details: FaultDetails }
  | { type: "error"; name: string; message: string; stack: string | undefined };

/** Keeps every field of a Fault that its caller sees; of any other error, name, message and stack for the log. */
export function encodeFailure(failure: unknown): EncodedFailure {
  if (failure instanceof Fault) {
    const { kind, message, code, param, retryAfterSeconds, cause } = failure;
    const details = { code, param, retryAfterSeconds, cause: cause === undefined ? undefined : String(cause) };
    return { type: "fault", kind, message, details };
  }
  if (failure instanceof Error) {
    return { type: "error", name: failure.name, message: failure.message, stack: failure.stack };
  }
  return { type: "error", name: "Error", message: String(failure), stack: undefined };
}

/** Restores what `encodeFailure` kept, for the caller in the service's process. */
export function decodeFailure(failure: EncodedFailure): Error {
  if (failure.type === "fault") return new Fault(failure.kind, failure.message, failure.details);
  const error = new Error(failure.message);
  error.name = failure.name;
  if (failure.stack !== undefined) error.stack = failure.stack;
  return error;
}
