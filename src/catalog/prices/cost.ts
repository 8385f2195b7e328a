/** Computes the cost of a request in exact integer arithmetic, rounded once. */

import type { Charge, Price, PriceUnit } from "../../contracts/price.ts";
import type { Operation, Usage } from "../../kernel/usage.ts";
import { type Compiled, compile, type Rates, toFactor } from "./compiled-price.ts";

/** Part of a cost. `unit` is a unit of the price, or `tool_calls.` and the tool's name. */
export interface CostPart {
  unit: string;
  /** Number of units, in seconds with thousandths for audio. */
  quantity: number;
  costNanoDollars: number;
}

/** Audio counts in thousandths of a second, so everything does. */
const THOUSANDTHS = 1000;
/** Rates have 15 digits after the point. */
const PARTS_PER_NANO_DOLLAR = 10n ** 6n * BigInt(THOUSANDTHS);

interface Line {
  unit: string;
  thousandths: number;
  rate: bigint;
}

/** Null when there is no price; units missing from a price are free. */
export function costInNanoDollars({ price, factors }: Charge, operation: Operation, usage: Usage): number | null {
  const compiled = compile(price);
  if (compiled === undefined) return null;
  const rates = compiled.ratesFor(usage.promptTokens, usage.details?.serviceTier);
  return toNanoDollars(sumOf(linesOf(operation, usage, rates, compiled)), compiled, factors);
}

/** Returns the parts that a cost is the sum of, each rounded by itself; none without a price. */
export function costParts({ price, factors }: Charge, operation: Operation, usage: Usage): CostPart[] {
  const compiled = compile(price);
  if (compiled === undefined) return [];
  const rates = compiled.ratesFor(usage.promptTokens, usage.details?.serviceTier);
  return linesOf(operation, usage, rates, compiled)
    .filter(({ thousandths }) => thousandths > 0)
    .map((line) => ({
      unit: line.unit,
      quantity: line.thousandths / THOUSANDTHS,
      costNanoDollars: toNanoDollars(sumOf([line]), compiled, factors),
    }));
}

/**
 * Returns the maximum cost of at most `usage`: each token at the highest rate that it may have, in the most expensive
 * tier. Calls of tools are not bounded before a request, so they are not contained. Null without a price.
 */
export function maxCostInNanoDollars({ price, factors }: Charge, operation: Operation, usage: Usage): number | null {
  const compiled = compile(price);
  if (compiled === undefined) return null;
  let max = 0n;
  for (const rates of compiled.ratesUpTo(usage.promptTokens)) {
    const sum = sumOf(linesOf(operation, usage, highestOf(rates), compiled));
    if (sum > max) max = sum;
  }
  return toNanoDollars(max, compiled, factors);
}

function sumOf(lines: readonly Line[]): bigint {
  let sum = 0n;
  for (const { rate, thousandths } of lines) sum += rate * BigInt(thousandths);
  return sum;
}

/** Rounds half up. */
function toNanoDollars(parts: bigint, compiled: Compiled, factors: readonly string[]): number {
  let numerator = parts * compiled.factor.numerator;
  let denominator = PARTS_PER_NANO_DOLLAR * compiled.factor.denominator;
  for (const each of factors) {
    const factor = toFactor(each);
    numerator *= factor.numerator;
    denominator *= factor.denominator;
  }
  return Number((2n * numerator + denominator) / (2n * denominator));
}

const PROMPT_UNITS: readonly PriceUnit[] = ["cached_prompt", "cache_write", "cache_write_hour", "input_audio"];
const COMPLETION_UNITS: readonly PriceUnit[] = ["reasoning", "output_audio", "output_image"];

function highestOf(rates: Rates): Rates {
  const highest = (unit: PriceUnit, others: readonly PriceUnit[]) =>
    others.reduce((max, each) => ((rates[each] ?? 0n) > max ? (rates[each] as bigint) : max), rates[unit] ?? 0n);
  return {
    ...rates,
    prompt: highest("prompt", [...PROMPT_UNITS, "cached_audio", "input_image"]),
    completion: highest("completion", COMPLETION_UNITS),
  };
}

function linesOf(operation: Operation, usage: Usage, rates: Rates, { toolCalls }: Compiled): Line[] {
  const lines =
    operation === "chat" || operation === "image" ? chatLines(usage, rates) : otherLines(operation, usage, rates);
  if (rates.request !== undefined) lines.push({ unit: "request", thousandths: THOUSANDTHS, rate: rates.request });
  if (usage.details?.toolCalls === undefined) return lines;
  for (const [tool, count] of Object.entries(usage.details.toolCalls)) {
    const rate = toolCalls.get(tool);
    if (rate !== undefined) lines.push({ unit: `tool_calls.${tool}`, thousandths: count * THOUSANDTHS, rate });
  }
  return lines;
}

function otherLines(operation: Exclude<Operation, "chat" | "image">, usage: Usage, rates: Rates): Line[] {
  const second = line("second", Math.round(usage.audioSeconds * THOUSANDTHS), rates.second);
  switch (operation) {
    case "embedding":
    case "moderation":
      return [tokens("prompt", usage.promptTokens, rates.prompt)];
    case "speech":
      return [tokens("character", usage.characters, rates.character), second];
    case "transcription":
      return [second];
    case "tool":
    case "storage":
      return [];
  }
}

/** Divides the tokens among the units that the price has; a unit that it lacks is charged as the more general one. */
function chatLines(usage: Usage, rates: Rates): Line[] {
  const { prompt, completion, cached_prompt: cachedPrompt = prompt } = rates;
  const { details } = usage;
  if (details === undefined && rates.reasoning === undefined) {
    return [
      tokens("prompt", usage.promptTokens - usage.cachedTokens, prompt),
      tokens("cached_prompt", usage.cachedTokens, cachedPrompt),
      tokens("completion", usage.completionTokens, completion),
    ];
  }
  const input = new Share(usage.promptTokens);
  const cached = new Share(input.take(usage.cachedTokens));
  const written = new Share(input.take(details?.cacheWriteTokens));
  const writtenForHour = written.take(details?.cacheWriteHourTokens);
  const cachedAudioTokens = Math.min(details?.cachedAudioTokens ?? 0, cached.rest);
  const audio = input.take(has(rates.input_audio, (details?.inputAudioTokens ?? 0) - cachedAudioTokens));
  const cachedAudio = cached.take(has(rates.cached_audio, cachedAudioTokens));
  const image = input.take(has(rates.input_image, details?.inputImageTokens));
  const output = new Share(usage.completionTokens);
  const outputAudio = output.take(has(rates.output_audio, details?.outputAudioTokens));
  const outputImage = output.take(has(rates.output_image, details?.outputImageTokens));
  const reasoning = output.take(has(rates.reasoning, usage.reasoningTokens));
  const { cache_write: cacheWrite = prompt, cache_write_hour: cacheWriteHour = cacheWrite } = rates;
  return [
    tokens("prompt", input.rest, prompt),
    tokens("cached_prompt", cached.rest, cachedPrompt),
    tokens("cache_write", written.rest, cacheWrite),
    tokens("cache_write_hour", writtenForHour, cacheWriteHour),
    tokens("input_audio", audio, rates.input_audio),
    tokens("cached_audio", cachedAudio, rates.cached_audio),
    tokens("input_image", image, rates.input_image),
    tokens("completion", output.rest, completion),
    tokens("reasoning", reasoning, rates.reasoning),
    tokens("output_audio", outputAudio, rates.output_audio),
    tokens("output_image", outputImage, rates.output_image),
    tokens("image", details?.images ?? 0, rates.image),
    tokens("second", details?.inputAudioSeconds ?? 0, rates.second),
  ];
}

/** Number that parts are taken from; no part is more than what remains, so that no token is charged twice. */
class Share {
  rest: number;

  constructor(count: number) {
    this.rest = count;
  }

  take(count = 0): number {
    const part = Math.min(Math.max(count, 0), this.rest);
    this.rest -= part;
    return part;
  }
}

/** Returns 0 for tokens without a rate of their own, which remain with the more general unit. */
function has(rate: bigint | undefined, count = 0): number {
  return rate === undefined ? 0 : count;
}

function tokens(unit: PriceUnit, count: number, rate: bigint | undefined): Line {
  return line(unit, count * THOUSANDTHS, rate);
}

function line(unit: PriceUnit, thousandths: number, rate: bigint = 0n): Line {
  return { unit, thousandths, rate };
}

/** Whether there is anything to charge. */
export function isPriced(price: Price): boolean {
  return compile(price) !== undefined;
}

/** Whether some request costs something: there is a price, which is not 0. */
export function mayCost({ price }: Charge): boolean {
  return compile(price)?.isFree === false;
}
