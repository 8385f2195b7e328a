/** Decodes Apple Lossless packets: a port of Apple's reference decoder (Apache-2.0), because no kept library on npm does. */

import { AudioError } from "./audio-error.ts";
import { BitReader } from "./bit-reader.ts";
import type { DecodedAudio, PacketDecoder } from "./decode-packets.ts";

/** ALACSpecificConfig, the "magic cookie". */
interface AlacConfig {
  frameLength: number;
  bitDepth: number;
  riceHistory: number;
  riceInitialHistory: number;
  riceLimit: number;
  channels: number;
  sampleRate: number;
}

const COOKIE_BYTES = 24;

export function parseAlacCookie(cookie: Buffer): AlacConfig {
  if (cookie.length < COOKIE_BYTES)
    throw new AudioError("unreadable", "The file does not describe its Apple Lossless audio.");
  const config = {
    frameLength: cookie.readUInt32BE(0),
    bitDepth: cookie.readUInt8(5),
    riceHistory: cookie.readUInt8(6),
    riceInitialHistory: cookie.readUInt8(7),
    riceLimit: cookie.readUInt8(8),
    channels: cookie.readUInt8(9),
    sampleRate: cookie.readUInt32BE(20),
  };
  const isSane = config.frameLength <= 65_536 && config.channels >= 1 && config.channels <= 8;
  if (isSane && [16, 20, 24, 32].includes(config.bitDepth)) return config;
  throw new AudioError("unreadable", "The file's Apple Lossless configuration is invalid.");
}

/** Elements of a packet. */
const SINGLE = 0;
const PAIR = 1;
const LOW_FREQUENCY = 3;
const DATA_STREAM = 4;
const FILL = 6;
const END = 7;

export function alacDecoder(config: AlacConfig): PacketDecoder {
  return {
    decode: async (packets) => decodePackets(packets, config),
    finish: async () => undefined,
    close: () => {},
  };
}

/** Returns undefined for no packets. */
export function decodePackets(packets: readonly { data: Uint8Array }[], config: AlacConfig): DecodedAudio | undefined {
  const frames = packets.map(({ data }) => decodePacket(data, config));
  if (frames.length === 0) return undefined;
  const length = frames.reduce((sum, [first]) => sum + (first?.length ?? 0), 0);
  const channels = Array.from({ length: config.channels }, (_, channel) => {
    const joined = new Float32Array(length);
    let at = 0;
    for (const frame of frames) {
      joined.set(frame[channel] as Float32Array, at);
      at += frame[0]?.length ?? 0;
    }
    return joined;
  });
  return { channels, sampleRate: config.sampleRate };
}

/** Returns one array per channel. */
function decodePacket(data: Uint8Array, config: AlacConfig): Float32Array[] {
  const bits = new BitReader(data);
  const decoded: Float32Array[] = [];
  for (let element = bits.read(3); element !== END; element = bits.read(3)) {
    switch (element) {
      case SINGLE:
      case LOW_FREQUENCY:
        decoded.push(...decodeElement(bits, config, 1));
        break;
      case PAIR:
        decoded.push(...decodeElement(bits, config, 2));
        break;
      case DATA_STREAM:
        skipDataStream(bits);
        break;
      case FILL:
        skipFill(bits);
        break;
      default:
        throw new AudioError("unreadable", `Apple Lossless element ${element} is not supported.`);
    }
    if (decoded.length > config.channels) throw new AudioError("unreadable", "The packet holds too many channels.");
  }
  const length = decoded[0]?.length ?? 0;
  while (decoded.length < config.channels) decoded.push(new Float32Array(length));
  return decoded;
}

function skipDataStream(bits: BitReader): void {
  bits.skip(4);
  const isAligned = bits.read(1) === 1;
  const count = bits.read(8);
  const bytes = count === 255 ? count + bits.read(8) : count;
  if (isAligned) bits.align();
  bits.skip(8 * bytes);
}

function skipFill(bits: BitReader): void {
  const count = bits.read(4);
  bits.skip(8 * (count === 15 ? count + bits.read(8) - 1 : count));
}

interface ChannelCoding {
  mode: number;
  shift: number;
  historyFactor: number;
  coefficients: Int16Array;
}

function decodeElement(bits: BitReader, config: AlacConfig, channelCount: number): Float32Array[] {
  bits.skip(4 + 12);
  const isPartial = bits.read(1) === 1;
  const shiftedBits = 8 * bits.read(2);
  const isRaw = bits.read(1) === 1;
  const length = isPartial ? bits.read(32) : config.frameLength;
  if (length > config.frameLength) throw new AudioError("unreadable", "The packet holds too many samples.");
  const channels = isRaw
    ? readRaw(bits, { length, channelCount, bitDepth: config.bitDepth })
    : readPredicted(bits, { config, length, channelCount, shiftedBits });
  const scale = 2 ** (config.bitDepth - 1);
  return channels.map((samples) => Float32Array.from(samples, (sample) => sample / scale));
}

interface RawBlock {
  length: number;
  channelCount: number;
  bitDepth: number;
}

function readRaw(bits: BitReader, { length, channelCount, bitDepth }: RawBlock): Int32Array[] {
  const channels = Array.from({ length: channelCount }, () => new Int32Array(length));
  const unused = 32 - bitDepth;
  for (let index = 0; index < length; index += 1) {
    for (const samples of channels) samples[index] = (bits.read(bitDepth) << unused) >> unused;
  }
  return channels;
}

interface PredictedBlock {
  config: AlacConfig;
  length: number;
  channelCount: number;
  shiftedBits: number;
}

function readPredicted(bits: BitReader, { config, length, channelCount, shiftedBits }: PredictedBlock): Int32Array[] {
  const sampleBits = config.bitDepth - shiftedBits + channelCount - 1;
  const mixBits = bits.read(8);
  const mixResolution = (bits.read(8) << 24) >> 24;
  const codings: ChannelCoding[] = Array.from({ length: channelCount }, () => {
    const mode = bits.read(4);
    const shift = bits.read(4);
    const historyFactor = bits.read(3);
    const coefficients = Int16Array.from({ length: bits.read(5) }, () => bits.read(16));
    return { mode, shift, historyFactor, coefficients };
  });
  const lowBits = shiftedBits === 0 ? undefined : bits.fork();
  bits.skip(shiftedBits * channelCount * length);
  const channels = codings.map((coding) => {
    const residuals = readResiduals(bits, config, { coding, length, sampleBits });
    if (coding.mode !== 0) predict(residuals, undefined, 0, sampleBits);
    predict(residuals, coding.coefficients, coding.shift, sampleBits);
    return residuals;
  });
  const [left, right] = channels;
  if (left !== undefined && right !== undefined && mixResolution !== 0) unmix(left, right, mixBits, mixResolution);
  if (lowBits !== undefined) {
    for (let index = 0; index < length; index += 1) {
      for (const samples of channels) {
        samples[index] = ((samples[index] as number) << shiftedBits) | lowBits.read(shiftedBits);
      }
    }
  }
  return channels;
}

function unmix(left: Int32Array, right: Int32Array, mixBits: number, mixResolution: number): void {
  for (let index = 0; index < left.length; index += 1) {
    const difference = right[index] as number;
    const sample = (left[index] as number) + difference - ((mixResolution * difference) >> mixBits);
    left[index] = sample;
    right[index] = sample - difference;
  }
}

/** Constants of Apple's adaptive Golomb coder (`aglib.h`). */
const HISTORY_SHIFT = 9;
const HISTORY_ONE = 1 << HISTORY_SHIFT;
const MAX_PREFIX = 9;
const MAX_MEAN = 0xffff;
const RUN_BITS = 16;

interface ResidualBlock {
  coding: ChannelCoding;
  length: number;
  sampleBits: number;
}

function readResiduals(bits: BitReader, config: AlacConfig, { coding, length, sampleBits }: ResidualBlock): Int32Array {
  const residuals = new Int32Array(length);
  const factor = Math.floor((config.riceHistory * coding.historyFactor) / 4);
  const limit = config.riceLimit;
  let history = config.riceInitialHistory;
  let follows = 0;
  for (let index = 0; index < length; ) {
    const k = Math.min(31 - Math.clz32((history >>> HISTORY_SHIFT) + 3), limit);
    const value = readGolomb(bits, k, sampleBits);
    const unsigned = value + follows;
    residuals[index] = unsigned % 2 === 1 ? -((unsigned + 1) / 2) : unsigned / 2;
    index += 1;
    history = value > MAX_MEAN ? MAX_MEAN : factor * unsigned + history - ((factor * history) >> HISTORY_SHIFT);
    follows = 0;
    if (history * 4 >= HISTORY_ONE || index >= length) continue;
    // A run of zeros, whose length has its own code.
    const runK = Math.clz32(history) - 24 + ((history + 16) >> 6);
    const run = readRun(bits, runK, limit);
    if (index + run > length) throw new AudioError("unreadable", "A run is longer than the packet.");
    index += run;
    follows = run >= 65_535 ? 0 : 1;
    history = 0;
  }
  return residuals;
}

function readPrefix(bits: BitReader): number {
  let ones = 0;
  while (ones < MAX_PREFIX && bits.read(1) === 1) ones += 1;
  return ones;
}

function readGolomb(bits: BitReader, k: number, maxBits: number): number {
  const prefix = readPrefix(bits);
  if (prefix === MAX_PREFIX) return bits.read(maxBits);
  if (k === 1) return prefix;
  return prefix * ((1 << k) - 1) + readSuffix(bits, k);
}

function readRun(bits: BitReader, k: number, limit: number): number {
  const prefix = readPrefix(bits);
  if (prefix === MAX_PREFIX) return bits.read(RUN_BITS);
  return prefix * (((1 << k) - 1) & ((1 << limit) - 1)) + readSuffix(bits, k);
}

/** The suffixes 0 and 1 are the same value, so they take one bit less. */
function readSuffix(bits: BitReader, k: number): number {
  const suffix = bits.read(k - 1) << 1;
  return suffix === 0 ? 0 : (suffix | bits.read(1)) - 1;
}

/** Adds the adaptive prediction to residuals in place. Without coefficients, each sample is predicted as the one before. */
function predict(samples: Int32Array, coefficients: Int16Array | undefined, shift: number, sampleBits: number): void {
  const order = coefficients?.length ?? 0;
  if (coefficients !== undefined && order === 0) return;
  const unused = 32 - sampleBits;
  const clip = (value: number) => (value << unused) >> unused;
  const isPlain = coefficients === undefined || order === 31;
  const warmUp = isPlain ? samples.length - 1 : Math.min(order, samples.length - 1);
  for (let index = 1; index <= warmUp; index += 1) {
    samples[index] = clip((samples[index] as number) + (samples[index - 1] as number));
  }
  if (isPlain) return;
  const half = shift === 0 ? 0 : 1 << (shift - 1);
  for (let index = order + 1; index < samples.length; index += 1) {
    const base = samples[index - order - 1] as number;
    let sum = half;
    for (let tap = 0; tap < order; tap += 1) {
      sum += Math.imul(coefficients[tap] as number, (samples[index - 1 - tap] as number) - base);
    }
    const residual = samples[index] as number;
    samples[index] = clip(residual + base + (sum >> shift));
    adapt(coefficients, { samples, index, base, residual, shift });
  }
}

interface Adaptation {
  samples: Int32Array;
  index: number;
  base: number;
  residual: number;
  shift: number;
}

/** Moves the coefficients toward a smaller residual, from the oldest sample to the newest, until it is used up. */
function adapt(coefficients: Int16Array, { samples, index, base, residual, shift }: Adaptation): void {
  const order = coefficients.length;
  const direction = Math.sign(residual);
  let remaining = residual;
  for (let tap = order - 1; tap >= 0 && remaining * direction > 0; tap -= 1) {
    const distance = base - (samples[index - 1 - tap] as number);
    const sign = direction * Math.sign(distance);
    coefficients[tap] = (coefficients[tap] as number) - sign;
    remaining -= (order - tap) * ((sign * distance) >> shift);
  }
}
