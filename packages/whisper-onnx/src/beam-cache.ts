import { Tensor } from "onnxruntime-node";
import type { DecoderShape } from "./layer-builder.ts";

/** Tokens that the memory grows by. */
const BLOCK_TOKENS = 32;

/**
 * Keys and values of the decoder's self-attention, which the decoder reads in place. Each beam has a slot; a beam that
 * continues stays in its slot, and only the others are copied.
 */
export class BeamCache {
  readonly #shape: DecoderShape;
  readonly #maxBeams: number;
  /** Keys and values by turns, layer by layer: [slots, heads, capacity, size]. */
  #buffers: readonly Float32Array[];
  #capacity = BLOCK_TOKENS;
  #length = 0;
  /** The slot of each beam. */
  #slots: readonly number[] = [0];
  /** Tokens at the start that all slots share. */
  #commonLength = 0;

  constructor(shape: DecoderShape, maxBeams: number) {
    this.#shape = shape;
    this.#maxBeams = maxBeams;
    this.#buffers = this.#allocate();
  }

  /** Tokens of each beam. */
  get length(): number {
    return this.#length;
  }

  /** Tokens that the memory has room for. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Makes the beam `parents[i]` beam `i` and returns the slot of each beam: the slots from 0 on. */
  reorder(parents: readonly number[]): readonly number[] {
    const sources = parents.map((parent) => this.#slots[parent] ?? 0);
    const slots = assignSlots(sources);
    const { heads, headSize } = this.#shape;
    // Slots that come into use have no token yet.
    const from = slots.length > this.#slots.length ? 0 : this.#commonLength;
    for (const [beam, slot] of slots.entries()) {
      const source = sources[beam] ?? 0;
      if (source === slot) continue;
      for (const buffer of this.#buffers) {
        for (let head = 0; head < heads; head += 1) {
          const start = (source * heads + head) * this.#capacity * headSize;
          const target = (slot * heads + head) * this.#capacity * headSize;
          buffer.copyWithin(target + from * headSize, start + from * headSize, start + this.#length * headSize);
        }
      }
    }
    if (this.#slots.length === 1) this.#commonLength = this.#length;
    this.#slots = slots;
    return slots;
  }

  /** The decoder's inputs for the first `slots` slots. */
  inputs(slots: number): Record<string, Tensor> {
    const { heads, headSize } = this.#shape;
    const dims = [slots, heads, this.#capacity, headSize];
    const size = slots * heads * this.#capacity * headSize;
    return Object.fromEntries(
      this.#buffers.map((buffer, index) => [
        `self_${index % 2 === 0 ? "key" : "value"}_${index >> 1}`,
        new Tensor("float32", buffer.subarray(0, size), dims),
      ]),
    );
  }

  /** Appends `count` tokens to each of the first `slots` slots; `added` is [2 * layers * slots, heads, count, size]. */
  append(added: Float32Array, slots: number, count: number): void {
    if (this.#length + count > this.#capacity) this.#grow(this.#length + count);
    const { heads, headSize } = this.#shape;
    const width = count * headSize;
    let position = 0;
    for (const buffer of this.#buffers) {
      for (let row = 0; row < slots * heads; row += 1) {
        buffer.set(added.subarray(position, position + width), (row * this.#capacity + this.#length) * headSize);
        position += width;
      }
    }
    this.#length += count;
  }

  #grow(tokens: number): void {
    const { heads, headSize } = this.#shape;
    const [previous, width] = [this.#buffers, this.#capacity * headSize];
    this.#capacity = Math.ceil(tokens / BLOCK_TOKENS) * BLOCK_TOKENS;
    this.#buffers = this.#allocate();
    for (const [index, buffer] of this.#buffers.entries()) {
      for (let row = 0; row < this.#maxBeams * heads; row += 1) {
        const values = previous[index]?.subarray(row * width, (row + 1) * width);
        if (values !== undefined) buffer.set(values, row * this.#capacity * headSize);
      }
    }
  }

  #allocate(): Float32Array[] {
    const { layers, heads, headSize } = this.#shape;
    const size = this.#maxBeams * heads * this.#capacity * headSize;
    return Array.from({ length: 2 * layers }, () => new Float32Array(size));
  }
}

/** Slots for beams whose parents are in `sources`: the first beam of a source stays there, the others get free slots. */
export function assignSlots(sources: readonly number[]): number[] {
  const taken = new Set<number>();
  const slots = sources.map((source) => {
    if (source >= sources.length || taken.has(source)) return undefined;
    taken.add(source);
    return source;
  });
  const free = [...sources.keys()].filter((slot) => !taken.has(slot));
  return slots.map((slot) => slot ?? (free.shift() as number));
}
