import type { SpeechEvent } from "../../contracts/speech-model.ts";
import type { TranscriptWord } from "../../contracts/transcription-model.ts";

/** Separates samples from the words in them, which wait until they are taken. */
export class TimedSpeech {
  readonly #events: AsyncIterable<SpeechEvent>;
  readonly #delaySeconds: number;
  #words: TranscriptWord[] = [];

  /** `delaySeconds`: by how much the samples are late in the encoded audio. */
  constructor(events: AsyncIterable<SpeechEvent>, delaySeconds: number) {
    this.#events = events;
    this.#delaySeconds = delaySeconds;
  }

  async *samples(): AsyncGenerator<Float32Array> {
    for await (const event of this.#events) {
      if (event instanceof Float32Array) yield event;
      else this.#words.push(...event.words.map((word) => this.#delayed(word)));
    }
  }

  /** Returns the words of the samples that have been read, each once. */
  takeWords(): readonly TranscriptWord[] {
    const taken = this.#words;
    this.#words = [];
    return taken;
  }

  #delayed({ word, startSeconds, endSeconds }: TranscriptWord): TranscriptWord {
    return {
      word,
      startSeconds: startSeconds + this.#delaySeconds,
      endSeconds: endSeconds + this.#delaySeconds,
    };
  }
}
