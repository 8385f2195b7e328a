const RATE = 24_000;

/** Plays chunks of 16-bit samples at 24 kHz one after the other. */
export class SpeechPlayer {
  readonly analyser: AnalyserNode;
  readonly #context: AudioContext;
  readonly #sources = new Set<AudioBufferSourceNode>();
  #item = "";
  /** Times of the context at which the item began, and at which its last chunk ends. */
  #beganAt = 0;
  #endsAt = 0;

  constructor(context: AudioContext) {
    this.#context = context;
    this.analyser = context.createAnalyser();
    this.analyser.connect(context.destination);
  }

  get isPlaying(): boolean {
    return this.#sources.size > 0;
  }

  /** Appends audio of an item; `onEnd` is called when all audio so far has been played. */
  push(item: string, samples: Int16Array, onEnd: () => void): void {
    if (samples.length === 0) return;
    const buffer = this.#context.createBuffer(1, samples.length, RATE);
    const channel = buffer.getChannelData(0);
    for (const [at, sample] of samples.entries()) channel[at] = sample / 0x8000;
    const startsAt = Math.max(this.#context.currentTime, this.#endsAt);
    if (item !== this.#item) [this.#item, this.#beganAt] = [item, startsAt];
    this.#endsAt = startsAt + buffer.duration;
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.analyser);
    source.onended = () => {
      this.#sources.delete(source);
      if (this.#sources.size === 0) onEnd();
    };
    this.#sources.add(source);
    source.start(startsAt);
  }

  /** Falls silent. Returns what was playing and how much of it was heard; undefined when nothing was. */
  stop(): { item: string; heardMs: number } | undefined {
    if (!this.isPlaying) return undefined;
    for (const source of this.#sources) {
      source.onended = null;
      source.stop();
    }
    this.#sources.clear();
    const heard = this.#context.currentTime - this.#beganAt;
    this.#endsAt = 0;
    return { item: this.#item, heardMs: Math.max(0, Math.floor(1000 * heard)) };
  }
}
