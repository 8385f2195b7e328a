/** Content of one request, which is read once the request is over. */

import type { Caller } from "../../contracts/caller.ts";
import type { ChatContent } from "../../contracts/chat-content.ts";
import type { Guardrail } from "../../contracts/guardrail.ts";
import type { RecordingPolicy } from "./recording-policy.ts";

/** Function that a chat model may call. */
export interface RecordedTool {
  name: string;
  description?: string | undefined;
  parameters?: unknown;
}

export interface RecordedContent extends ChatContent {
  tools?: readonly RecordedTool[] | undefined;
}

export interface RequestRecordingOptions {
  caller: Caller;
  /** Undefined: only what the caller asks to store. */
  policy: RecordingPolicy | undefined;
  /** What the project masks in all that is stored. */
  redact: RecordingPolicy["redact"];
  /** Guardrails of the request, whose matches are masked. */
  guardrails: readonly Guardrail[];
}

export class RequestRecording {
  readonly caller: Caller;
  readonly policy: RecordingPolicy | undefined;
  readonly redact: RecordingPolicy["redact"];
  readonly guardrails: readonly Guardrail[];
  /** Whether the caller's request has stored the content already. */
  isStored = false;
  #read: (() => RecordedContent) | undefined;

  constructor({ caller, policy, redact, guardrails }: RequestRecordingOptions) {
    this.caller = caller;
    this.policy = policy;
    this.redact = redact;
    this.guardrails = guardrails;
  }

  /** Sets what reads the content, as a model may read it: a request that a guardrail blocks has none. */
  readWith(read: () => RecordedContent): void {
    this.#read = read;
  }

  /** Reads with `read` and the events that the returned function gets. */
  watch<Event>(read: (events: Event[]) => RecordedContent): (event: Event) => void {
    const events: Event[] = [];
    this.readWith(() => read(events));
    return (event) => void events.push(event);
  }

  /** Undefined: no model was asked. */
  content(): RecordedContent | undefined {
    return this.#read?.();
  }
}
