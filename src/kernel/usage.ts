/** What a request used: one type from the engine that counts it to the bill. */

/**
 * The tasks, as usage records and prices name them; `tool`: a call of a tool that this service runs; `storage`: an hour of
 * stored files of vector stores, which is not a request.
 */
export type Operation = "chat" | "embedding" | "moderation" | "speech" | "transcription" | "image" | "tool" | "storage";

/** Tokens that a model read and wrote for one request. */
export interface TokenUsage {
  /** All tokens of the prompt, also cached ones, those written to a cache, and those of audio and images. */
  promptTokens: number;
  /** Prompt tokens read from a prompt cache. */
  cachedTokens: number;
  /** Completion tokens of all choices, reasoning included. */
  completionTokens: number;
  /** Completion tokens spent on reasoning; 0 where an upstream does not report it. */
  reasoningTokens: number;
  /** False: the tokenizer's own count. True: the upstream reported none, so this is an estimate. */
  estimated: boolean;
  /** What few answers report; undefined: nothing of it. */
  details?: UsageDetails | undefined;
}

/** Parts of usage that few answers report. Undefined and 0 mean the same. */
export interface UsageDetails {
  /** Prompt tokens written to a prompt cache, of any lifetime. */
  cacheWriteTokens?: number | undefined;
  /** Written tokens that the cache keeps for an hour; the others have the provider's default lifetime. */
  cacheWriteHourTokens?: number | undefined;
  /** Prompt tokens of audio, cached ones included. */
  inputAudioTokens?: number | undefined;
  /** Audio tokens read from a prompt cache. */
  cachedAudioTokens?: number | undefined;
  /** Prompt tokens of images. */
  inputImageTokens?: number | undefined;
  /** Completion tokens of audio. */
  outputAudioTokens?: number | undefined;
  /** Completion tokens of images. */
  outputImageTokens?: number | undefined;
  /** Seconds of audio in the prompt, where the provider counts them instead of tokens. */
  inputAudioSeconds?: number | undefined;
  /** Images that were generated. */
  images?: number | undefined;
  /** Operation, such as `image.edit`, and size of these images. */
  imageKind?: { source: string; size: string | null } | undefined;
  /** Calls of tools that the provider runs, by the tool's name, such as `web_search`. */
  toolCalls?: Readonly<Record<string, number>> | undefined;
  /** Calls of functions, which run at the client, by their name. */
  functionCalls?: Readonly<Record<string, number>> | undefined;
  /** Tier that processed the request, such as `flex` or `priority`; undefined: the standard one. */
  serviceTier?: string | undefined;
  /** What the provider says the request cost. */
  reportedCostNanoDollars?: number | undefined;
}

/** What a request of any task used; what does not apply to its task is 0. */
export interface Usage extends TokenUsage {
  /** Length of moderated or spoken text, in UTF-16 units. */
  characters: number;
  audioSeconds: number;
}

/** Usage as it is stored and reported: in integers, with its cost. */
export interface RecordedUsage extends Omit<Usage, "estimated" | "audioSeconds" | "details"> {
  audioMilliseconds: number;
  /** Null: no price was known. */
  costNanoDollars: number | null;
}

/** Amounts and costs that few requests have. */
export interface RecordedDetails {
  cacheWriteTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
  /** Calls of tools that the provider runs. */
  toolCalls: number;
  /** Images that were generated. */
  images: number;
  /** Bytes of vector stores, for each hour that they were stored. */
  storedByteHours: number;
  /** What the provider says that requests cost; null: nothing. */
  reportedCostNanoDollars: number | null;
  /** Cost of the same requests at the price of the deployment, without the factors of projects; null: unknown. */
  comparedCostNanoDollars: number | null;
}

/** What a request belongs to, in addition to its key: usage is summed for each. */
export interface RequestLabels {
  /** Identifier of the caller's own user. */
  endUser?: string | undefined;
  tags?: readonly string[] | undefined;
  /** Version of a stored prompt. */
  prompt?: string | undefined;
  /** For traces only. */
  session?: string | undefined;
}

/** Adds the usage of two runs. */
export function addTokens(one: TokenUsage, other: TokenUsage): TokenUsage {
  const details = addDetails(one.details, other.details);
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    estimated: one.estimated || other.estimated,
    ...(details !== undefined && { details }),
  };
}

/** Adds numbers and calls; the tier is that of the later run. */
function addDetails(one: UsageDetails | undefined, other: UsageDetails | undefined): UsageDetails | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    if (typeof value === "number") sum[name] = Number(sum[name] ?? 0) + value;
    else sum[name] = value ?? sum[name];
  }
  if (one.toolCalls !== undefined) sum.toolCalls = addCalls(one.toolCalls, other.toolCalls);
  if (one.functionCalls !== undefined) sum.functionCalls = addCalls(one.functionCalls, other.functionCalls);
  return sum;
}

type Calls = NonNullable<UsageDetails["toolCalls"]>;

function addCalls(one: Calls, other: Calls = {}): Calls {
  const calls = new Map(Object.entries(one));
  for (const [name, count] of Object.entries(other)) calls.set(name, (calls.get(name) ?? 0) + count);
  return Object.fromEntries(calls);
}

export const NO_USAGE: Readonly<Usage> = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  characters: 0,
  audioSeconds: 0,
};
