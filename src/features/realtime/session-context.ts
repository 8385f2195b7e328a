/** What the parts of a Realtime session share. */

import type { HostedVadStream } from "@parlance-inference/speech-segmentation/vad-process";
import type { Caller } from "../../contracts/caller.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import type { BodyMemory } from "../../http/body-memory.ts";
import type { DetachedRun, DetachedRunOptions } from "../../http/detached-run.ts";
import type { Inference } from "../../inference/inference.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import { Fault } from "../../kernel/faults.ts";
import type { ServerEvent } from "../../wire/realtime/server-event.ts";
import type { SessionSettings } from "../../wire/realtime/session-settings.ts";
import type { ContentReading } from "../files/index.ts";
import type { ServiceTools } from "../tools/index.ts";

interface ContentOfItems {
  /** Returns items with content in place of what they refer to. Throws a Fault. */
  inItems<Items>(of: { caller: Caller; model: string }, items: Items, reading: ContentReading): Promise<Items>;
}

export interface RealtimeServices {
  inference: Inference;
  content: ContentOfItems;
  /** Counts what responses download. */
  memory: BodyMemory;
  /** Begins a response in the request history. */
  beginRun(request: Pick<DetachedRunOptions, "caller" | "model">): DetachedRun;
  tools: ServiceTools;
  /** Calls of tools that this service runs in one response. */
  maxToolCalls: number;
  /** Starts the detection of speech in a recording. Throws a Fault when its model cannot be had. */
  detectSpeech(signal: AbortSignal): Promise<HostedVadStream>;
  /** Models of sessions that name none; undefined: the first of the caller's. */
  transcriptionModel: string | undefined;
  speechModel: string | undefined;
}

export interface SessionContext {
  services: RealtimeServices;
  settings(): SessionSettings;
  callerHeaders: CallerHeaders;
  /** Authenticates the session's key again. Throws a Fault when it does not work any more. */
  authenticate(): Promise<Caller>;
  send(event: ServerEvent): void;
  /** Resolves once the client has read most of what was sent. */
  flushed(): Promise<void>;
  /** Renders a failure as an error object; a bug is logged. */
  toError(failure: unknown): Record<string, unknown>;
  /** Aborts when the session ends. */
  signal: AbortSignal;
}

/**
 * Runs an inference that the signal aborts, as if its client had disconnected. `run` resolves after the answer has been
 * read: listeners would keep its audio until the session ends.
 */
export async function untilAborted<Result>(
  signal: AbortSignal,
  run: (onDisconnect: OnDisconnect) => Promise<Result>,
): Promise<Result> {
  const listeners: (() => void)[] = [];
  try {
    return await run((leave) => {
      if (signal.aborted) return leave();
      listeners.push(leave);
      signal.addEventListener("abort", leave, { once: true });
    });
  } finally {
    for (const leave of listeners) signal.removeEventListener("abort", leave);
  }
}

export function isAborted(failure: unknown): boolean {
  return failure instanceof Fault && failure.kind === "client-left";
}
