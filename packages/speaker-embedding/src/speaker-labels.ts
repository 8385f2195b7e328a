/** Names the speakers of utterances by their voices. */

import { clusterVoices, dot, meanVoice } from "./cluster-voices.ts";

export interface Utterance {
  /** As `SpeakerEncoder.embed` returns it. */
  voice: Float32Array;
  /** Duration of the speech. */
  seconds: number;
}

export interface KnownVoice {
  name: string;
  voice: Float32Array;
}

/**
 * Mean similarity of two clusters of one speaker. Chosen on dialogues of six speakers: from 0.25 to 0.4 no speaker was split
 * or confused with another.
 */
const MIN_SIMILARITY = 0.4;
/** The voice of shorter speech is uncertain: it joins the most similar speaker, and never adds one when others have spoken. */
const MIN_CERTAIN_SECONDS = 1.5;
/** Clustering compares all pairs. Later utterances join the most similar cluster. */
const MAX_CLUSTERED = 400;

/** Returns the speaker of each utterance: the name of a known voice, otherwise `A`, `B`, … in the order of appearance. */
export function labelSpeakers(utterances: readonly Utterance[], known: readonly KnownVoice[] = []): string[] {
  const certain = utterances.filter(({ seconds }) => seconds >= MIN_CERTAIN_SECONDS);
  const clustered = (certain.length > 0 ? certain : utterances).slice(0, MAX_CLUSTERED);
  const labels = clusterVoices(
    clustered.map(({ voice }) => voice),
    MIN_SIMILARITY,
  );
  const voices = Array.from({ length: 1 + Math.max(-1, ...labels) }, (_, label) => {
    const members = clustered.filter((_each, index) => labels[index] === label);
    return meanVoice(
      members.map(({ voice }) => voice),
      members.map(({ seconds }) => seconds),
    );
  });
  const speakers = new LiveSpeakers(known);
  const clusterOf = new Map(clustered.map((utterance, index) => [utterance, labels[index]]));
  const names = new Map<number, string>();
  return utterances.map((utterance) => {
    const cluster = clusterOf.get(utterance) ?? mostSimilar(voices, utterance.voice).index;
    const voice = voices[cluster] ?? utterance.voice;
    const name = names.get(cluster) ?? speakers.nameOf(voice);
    names.set(cluster, name);
    return name;
  });
}

/** Names speakers one utterance after the other, for streams. */
export class LiveSpeakers {
  readonly #known: readonly KnownVoice[];
  readonly #voices: { name: string; sum: Float32Array }[] = [];
  #letters = 0;

  constructor(known: readonly KnownVoice[] = []) {
    this.#known = known;
  }

  /** The speaker of the next utterance. */
  label({ voice, seconds }: Utterance): string {
    const best = mostSimilar(
      this.#voices.map(({ sum }) => meanVoice([sum])),
      voice,
    );
    const speaker = this.#voices[best.index];
    const isUncertain = seconds < MIN_CERTAIN_SECONDS;
    if (speaker === undefined || (best.similarity < MIN_SIMILARITY && !isUncertain)) {
      const name = this.nameOf(voice);
      this.#voices.push({ name, sum: voice.map((value) => value * seconds) });
      return name;
    }
    if (!isUncertain) speaker.sum = speaker.sum.map((value, index) => value + seconds * (voice[index] ?? 0));
    return speaker.name;
  }

  /** Name of a known voice that is similar, otherwise the next letter. */
  nameOf(voice: Float32Array): string {
    const best = mostSimilar(
      this.#known.map((each) => each.voice),
      voice,
    );
    const match = best.similarity >= MIN_SIMILARITY ? this.#known[best.index] : undefined;
    if (match !== undefined) return match.name;
    this.#letters += 1;
    return toLetters(this.#letters);
  }
}

/** A to Z, then AA, AB and so on. */
function toLetters(number: number): string {
  const rest = number - 1;
  const last = String.fromCodePoint(65 + (rest % 26));
  return rest < 26 ? last : toLetters(Math.floor(rest / 26)) + last;
}

function mostSimilar(voices: readonly Float32Array[], voice: Float32Array): { index: number; similarity: number } {
  let best = { index: -1, similarity: Number.NEGATIVE_INFINITY };
  for (const [index, other] of voices.entries()) {
    const similarity = dot(other, voice);
    if (similarity > best.similarity) best = { index, similarity };
  }
  return best;
}
