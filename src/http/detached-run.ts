/** A run whose end is not that of an HTTP request: a response in the background, or one of a Realtime session. */

import type { Caller } from "../contracts/caller.ts";
import type { GuardrailReport } from "../inference/guardrails/guardrail-report.ts";
import type { OnDisconnect } from "../inference/on-disconnect.ts";
import type { RequestRecording } from "../inference/recording/request-recording.ts";
import type { Settlement } from "../inference/settlement.ts";
import { Fault } from "../kernel/faults.ts";
import { toErrorAnswer } from "../wire/openai/error.ts";
import { toHistoryEntry } from "./history-entry.ts";
import type { EndedRequest } from "./request-log.ts";

export interface DetachedRunOptions {
  /** ID of its entry in the request history. */
  id: string;
  caller: Caller;
  operation: string;
  /** As the caller wrote it. */
  model: string | undefined;
  /** Called at its end, once. */
  record: (ended: EndedRequest) => void;
}

export class DetachedRun {
  readonly #options: DetachedRunOptions;
  readonly #beganAt = performance.now();
  #settlement: (() => Settlement | undefined) | undefined;
  #combined: (() => Settlement | undefined) | undefined;
  #guardrails: GuardrailReport | undefined;
  #recording: RequestRecording | undefined;
  #hasEnded = false;

  constructor(options: DetachedRunOptions) {
    this.#options = options;
  }

  /** Returns `onDisconnect`, which also notes what the run records. */
  watch(onDisconnect: OnDisconnect): OnDisconnect {
    return (leave, settlement, guardrails, recording) => {
      this.#settlement = settlement ?? this.#settlement;
      this.#recording = recording ?? this.#recording;
      if (guardrails !== undefined) {
        guardrails.requestId = this.#options.id;
        this.#guardrails = guardrails;
      }
      onDisconnect(leave, settlement, guardrails, recording);
    };
  }

  /** Takes the settlement of the answer, which may have several turns. */
  answered({ settlement }: { settlement(): Settlement | undefined }): void {
    this.#combined = settlement;
  }

  end(failure?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { record, ...request } = this.#options;
    const settlement = this.#combined?.() ?? this.#settlement?.();
    const entry = toHistoryEntry({
      ...request,
      status: statusOf(failure, settlement),
      beganAt: this.#beganAt,
      durationMs: Math.round(performance.now() - this.#beganAt),
      failure,
      guardrails: this.#guardrails,
      settlement,
    });
    if (entry !== undefined) record({ entry, caller: request.caller, recording: this.#recording, body: undefined });
  }
}

function statusOf(failure: unknown, settlement: Settlement | undefined): number {
  if (settlement?.outcome === "client-left") return toErrorAnswer(new Fault("client-left", ""), "").status;
  return failure === undefined ? 200 : toErrorAnswer(failure, "").status;
}
