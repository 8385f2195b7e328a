import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { concatenateSamples } from "@parlance-inference/audio/concatenate-samples";
import type { Decoder } from "@parlance-inference/audio/decode";
import { toDiskFault } from "../../http/upload.ts";
import { FairTurns } from "../../kernel/async/fair-turns.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { withAudioFaults } from "./audio-faults.ts";

const SAMPLE_RATE = 16_000;
/** Longer than the recordings of 2 to 10 s that OpenAI takes. */
const MAX_SECONDS = 60;
const MIN_SECONDS = 0.5;
/** Recordings that are decoded at the same time. */
const TURNS = { slots: 4, maxHeld: 2 };

export interface ReferenceOptions {
  project: string;
  /** Folder of temporary files, which the decoder may read. */
  folder: string;
  signal: AbortSignal;
}

/** Decodes recordings of known speakers. */
export class SpeakerReferences {
  readonly #decoder: Pick<Decoder, "decode">;
  readonly #turns = new FairTurns(TURNS);

  constructor(decoder: Pick<Decoder, "decode">) {
    this.#decoder = decoder;
  }

  /** Decodes recordings in base64 data URLs. Throws a Fault, or the signal's reason. */
  async read(references: readonly string[], { project, folder, signal }: ReferenceOptions): Promise<Float32Array[]> {
    const voices: Float32Array[] = [];
    for (const [index, reference] of references.entries()) {
      const path = join(folder, `reference-${index}`);
      const param = `known_speaker_references[${index}]`;
      const voice = await this.#turns.run(project, signal, () => this.#decode(reference, path, param, signal));
      signal.throwIfAborted();
      if (voice !== undefined) voices.push(voice);
    }
    return voices;
  }

  async #decode(reference: string, path: string, param: string, signal: AbortSignal): Promise<Float32Array> {
    try {
      const content = reference.slice(reference.indexOf(",") + 1);
      await writeFile(path, content, { encoding: "base64" }).catch((error) => Promise.reject(toDiskFault(error)));
      const samples = this.#decoder.decode({ path, sampleRate: SAMPLE_RATE, maxSeconds: MAX_SECONDS }, signal);
      const voice = concatenateSamples(await Array.fromAsync(withAudioFaults(samples)));
      signal.throwIfAborted();
      if (voice.length >= MIN_SECONDS * SAMPLE_RATE) return voice;
    } catch (failure) {
      signal.throwIfAborted();
      if (!(failure instanceof Fault) || failure.param !== "file") throw failure;
      throw invalidRequest(failure.message, param, "invalid_value");
    }
    const message = `A reference must be at least ${MIN_SECONDS} s long; 2 to 10 s are best.`;
    throw invalidRequest(message, param, "invalid_value");
  }
}
