import type {
  EmbeddingInput,
  EmbeddingModel,
  EmbeddingRequest,
  EmbeddingResult,
} from "../../contracts/embedding-model.ts";
import { estimateTextTokens } from "../../contracts/estimate-tokens.ts";
import { singleEvent } from "../../engines/shared/single-event.ts";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import { embeddingParts } from "../cache/cache-parts.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./task-adapter.ts";

/** Special tokens that common tokenizers add around a text. */
const TOKENS_AROUND_INPUT = 2;

/** Adapts embeddings, whose answer is one event with all vectors. */
export function embeddingAdapter(
  request: Omit<EmbeddingRequest, "model" | "project">,
  project: string,
): TaskAdapter<EmbeddingModel, EmbeddingResult> {
  const { inputs, dimensions } = request;
  return {
    task: "embedding",
    upperBound: () => ({ ...NO_UPPER_BOUND, promptTokens: sumOf(inputs, maxTokensOf) }),
    cacheParts: () => embeddingParts(request),
    callerHeaders: request.callerHeaders,
    affinity: () => undefined,
    refusal: (model) => refuseDimensions(dimensions, model),
    begin: (model, id, signal) =>
      singleEvent(async () => {
        const result = await model.embed({ ...request, model: id, project }, signal);
        return signal.aborted ? undefined : result;
      }),
    drainsToBuffer: () => true,
    count: ({ promptTokens, estimated }, used) => {
      used.promptTokens = promptTokens;
      used.estimated = estimated;
      return true;
    },
    countAbandoned: (used) => {
      used.promptTokens = sumOf(inputs, estimateInputTokens);
      used.estimated = true;
    },
    isEnd: undefined,
  };
}

/** Returns the upper bound of an input's tokens: a token has at least one byte. */
function maxTokensOf(input: EmbeddingInput): number {
  return TOKENS_AROUND_INPUT + (typeof input === "string" ? Buffer.byteLength(input) : input.length);
}

function estimateInputTokens(input: EmbeddingInput): number {
  return typeof input === "string" ? estimateTextTokens(input) : input.length;
}

function sumOf<Item>(items: readonly Item[], count: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0);
}

function refuseDimensions(wanted: number | undefined, { dimensions }: EmbeddingModel): Fault | undefined {
  if (wanted === undefined || dimensions === undefined || wanted === dimensions) return undefined;
  return unsupportedValue(
    `This model's vectors have ${dimensions} dimensions; it was not trained for ${wanted}. Leave \`dimensions\` out.`,
    "dimensions",
  );
}
