/** Audio worklet: posts what the microphone hears as 16-bit samples at 24 kHz, a tenth of a second at a time. */

// TypeScript's library for pages lacks the names of worklets.
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

const RATE = 24_000;
const BLOCK = RATE / 10;

class Capture extends AudioWorkletProcessor {
  #block = new Int16Array(BLOCK);
  #length = 0;
  /** Sum of the input samples of the next output sample, and how much of one they fill. */
  #sum = 0;
  #filled = 0;

  process([input]: Float32Array[][]): boolean {
    // Averages over the time of an output sample: enough for speech.
    const step = RATE / sampleRate;
    for (const sample of input?.[0] ?? []) {
      const part = Math.min(step, 1 - this.#filled);
      this.#sum += sample * part;
      this.#filled += part;
      if (this.#filled < 1 - 1e-9) continue;
      this.#push(this.#sum);
      this.#filled = step - part;
      this.#sum = sample * this.#filled;
      for (; this.#filled >= 1; this.#filled -= 1) this.#push(sample);
    }
    return true;
  }

  #push(sample: number): void {
    this.#block[this.#length] = Math.max(-1, Math.min(1, sample)) * 0x7fff;
    this.#length += 1;
    if (this.#length < BLOCK) return;
    this.port.postMessage(this.#block, [this.#block.buffer]);
    this.#block = new Int16Array(BLOCK);
    this.#length = 0;
  }
}

registerProcessor("capture", Capture);
