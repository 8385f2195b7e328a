/** Begins the recordings of requests. A project that records nothing costs one lookup. */

import type { Caller } from "../../contracts/caller.ts";
import type { Guardrail } from "../../contracts/guardrail.ts";
import type { InferenceAnswer } from "../inference-answer.ts";
import type { OnDisconnect } from "../on-disconnect.ts";
import type { RecordingPolicy } from "./recording-policy.ts";
import { RequestRecording } from "./request-recording.ts";

export interface RecordingsOptions {
  /** Whether the content of a caller's requests may be in traces. */
  mayRecord?: ((caller: Caller) => boolean) | undefined;
  /** What the caller's project records; undefined: nothing. */
  recordingOf?: ((caller: Caller) => RecordingPolicy | undefined) | undefined;
}

export class Recordings {
  readonly #recordingOf: RecordingsOptions["recordingOf"];
  readonly #guardrailsOf: (caller: Caller, model: string) => readonly Guardrail[];

  constructor(
    { recordingOf }: RecordingsOptions,
    guardrailsOf: (caller: Caller, model: string) => readonly Guardrail[],
  ) {
    this.#recordingOf = recordingOf;
    this.#guardrailsOf = guardrailsOf;
  }

  /** Undefined: neither the project nor the caller (`isStored`) asks for it. */
  begin(caller: Caller, model: string, onDisconnect: OnDisconnect, isStored = false): RequestRecording | undefined {
    const projectPolicy = this.#recordingOf?.(caller);
    if (projectPolicy === undefined && !isStored) return undefined;
    const isDrawn = projectPolicy !== undefined && (projectPolicy.share >= 1 || Math.random() < projectPolicy.share);
    if (!isDrawn && !isStored) return undefined;
    const policy = isDrawn ? projectPolicy : undefined;
    const recording = new RequestRecording({
      ...{ caller, policy, redact: projectPolicy?.redact ?? [] },
      guardrails: this.#guardrailsOf(caller, model),
    });
    onDisconnect(() => {}, undefined, undefined, recording);
    return recording;
  }
}

/** Returns an answer whose events `add` sees; without it, the answer itself. */
export async function recorded<Event>(
  answering: InferenceAnswer<Event> | Promise<InferenceAnswer<Event>>,
  add: ((event: Event) => void) | undefined,
): Promise<InferenceAnswer<Event>> {
  const answer = await answering;
  return add === undefined ? answer : { ...answer, events: observe(answer.events, add) };
}

async function* observe<Event>(events: AsyncIterable<Event>, add: (event: Event) => void): AsyncGenerator<Event, void> {
  for await (const event of events) {
    add(event);
    yield event;
  }
}
