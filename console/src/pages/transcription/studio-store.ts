/** The recording and its transcript, which stay while other pages are shown. */

import { useSyncExternalStore } from "react";
import { readTranscript, type TranscriptionRequest } from "./read-transcript.ts";
import { forgetStudio, readStudio, writeStudio } from "./stored-studio.ts";
import { type SpeakerNames, type Transcript, withSpeaker, withText } from "./transcript.ts";

export interface Studio {
  recording: File | null;
  /** Plays the recording. */
  url: string | undefined;
  state: "idle" | "running" | "done" | "failed";
  error: Error | null;
  transcript: Transcript | undefined;
  names: SpeakerNames;
}

const EMPTY: Studio = {
  recording: null,
  url: undefined,
  state: "idle",
  error: null,
  transcript: undefined,
  names: {},
};

/** What is lost at most when the page is closed. */
const STORE_MS = 300;

class StudioStore {
  #state = EMPTY;
  #abort: AbortController | undefined;
  /** Who has it open; undefined: before the page is shown. */
  #owner: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly read = (): Studio => this.#state;

  /** Shows what the owner had open before the page was loaded; what belongs to somebody else is removed. */
  async enter(owner: string): Promise<void> {
    if (owner === this.#owner) return;
    if (this.#owner !== undefined) this.open(null);
    this.#owner = owner;
    const stored = await readStudio();
    if (stored === undefined || owner !== this.#owner || this.#state.recording !== null) return;
    if (stored.owner !== owner) return forgetStudio();
    const { recording, transcript, names } = stored;
    if (recording === null) return;
    const state = transcript === undefined ? "idle" : "done";
    this.#show({ ...EMPTY, recording, transcript, names, state, url: URL.createObjectURL(recording) });
  }

  open(recording: File | null): void {
    this.#abort?.abort();
    if (this.#state.url !== undefined) URL.revokeObjectURL(this.#state.url);
    this.#show({ ...EMPTY, recording, url: recording === null ? undefined : URL.createObjectURL(recording) });
    // What is closed is gone at once.
    this.#store();
  }

  async transcribe(request: Omit<TranscriptionRequest, "recording">): Promise<void> {
    const { recording } = this.#state;
    if (recording === null) return;
    const abort = new AbortController();
    this.#abort?.abort();
    this.#abort = abort;
    this.#set({ state: "running", error: null, transcript: undefined, names: {} });
    const show = (part: Partial<Studio>) => {
      if (this.#abort === abort && !abort.signal.aborted) this.#set(part);
    };
    try {
      const whole = { ...request, recording };
      const transcript = await readTranscript(whole, (part) => show({ transcript: part }), abort.signal);
      show({ state: "done", transcript });
      this.#store();
    } catch (failure) {
      show({ state: "failed", error: failure instanceof Error ? failure : new Error(String(failure)) });
    }
  }

  /** Stops the transcription; what was heard stays. */
  cancel(): void {
    this.#abort?.abort();
    this.#set({ state: this.#state.transcript === undefined ? "idle" : "done" });
  }

  rename(speaker: string, name: string): void {
    const { [speaker]: _previous, ...names } = this.#state.names;
    const trimmed = name.trim();
    this.#set({ names: trimmed === "" ? names : { ...names, [speaker]: trimmed } });
  }

  editText(id: number, text: string): void {
    this.#edit((transcript) => withText(transcript, id, text));
  }

  assign(id: number, speaker: string): void {
    this.#edit((transcript) => withSpeaker(transcript, id, speaker));
  }

  #edit(change: (transcript: Transcript) => Transcript): void {
    const { transcript } = this.#state;
    if (transcript !== undefined) this.#set({ transcript: change(transcript) });
  }

  #set(part: Partial<Studio>): void {
    this.#show(part);
    this.#timer ??= setTimeout(() => this.#store(), STORE_MS);
  }

  #show(part: Partial<Studio>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }

  #store(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { recording, transcript, names } = this.#state;
    if (recording === null || this.#owner === undefined) void forgetStudio();
    else void writeStudio({ owner: this.#owner, recording, transcript, names });
  }
}

export const studioStore = new StudioStore();

export function useStudio(): Studio {
  return useSyncExternalStore(studioStore.subscribe, studioStore.read);
}
