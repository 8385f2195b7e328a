/** The default embedding model: a sentence encoder on the CPU. */

import { availableParallelism } from "node:os";
import { TextTooLongError, UnknownTokenError } from "@parlance-inference/sentence-embeddings/errors";
import { SentenceEncoder } from "@parlance-inference/sentence-embeddings/sentence-encoder";
import type {
  EmbeddingInput,
  EmbeddingModel,
  EmbeddingRequest,
  EmbeddingResult,
} from "../../contracts/embedding-model.ts";
import { RoundRobinLock } from "../../kernel/async/round-robin-lock.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { HostedModule } from "../host/model-child.ts";
import { receiveMessages } from "../host/receive-messages.ts";
import { checkInputLength } from "../shared/check-input-length.ts";
import { countsOtherwise, decodeTokenIds, type TokenIds } from "../shared/token-ids.ts";
import { HEADS, MAX_TOKENS } from "./all-minilm.ts";

export interface SentenceEmbeddingOptions {
  /** Paths of the files in the model store. */
  files: { weights: string; tokenizer: string; tokenizerConfig: string } | { packedWeights: string };
  longInput: "refuse" | "average" | undefined;
  tokenIds: TokenIds;
  slots: number;
  threads: number | undefined;
  maxCharacters: number;
}

const MAX_THREADS = 4;
/** Share of the slots that one project may hold. */
const MAX_SHARE = 1 / 4;

export class SentenceEmbedding implements EmbeddingModel {
  readonly task = "embedding";
  readonly device = "cpu";
  readonly contextWindow: number;
  readonly dimensions: number;
  readonly slots: number;
  readonly slotsPerProject: number;
  readonly #encoder: SentenceEncoder;
  readonly #options: SentenceEmbeddingOptions;
  readonly #turns = new RoundRobinLock();

  private constructor(encoder: SentenceEncoder, options: SentenceEmbeddingOptions) {
    this.#encoder = encoder;
    this.dimensions = encoder.dimensions;
    this.contextWindow = encoder.maxTokens;
    this.slots = options.slots;
    this.slotsPerProject = Math.ceil(options.slots * MAX_SHARE);
    this.#options = options;
  }

  static async open(options: SentenceEmbeddingOptions): Promise<SentenceEmbedding> {
    const { files, threads = Math.min(MAX_THREADS, availableParallelism()) } = options;
    const encoder =
      "packedWeights" in files
        ? await SentenceEncoder.loadPacked({ weights: files.packedWeights, threads })
        : await SentenceEncoder.load({ ...files, heads: HEADS, maxTokens: MAX_TOKENS, threads });
    return new SentenceEmbedding(encoder, options);
  }

  async embed(request: EmbeddingRequest, signal: AbortSignal): Promise<EmbeddingResult> {
    const { inputs, project, purpose } = request;
    checkInputLength(
      inputs.filter((input) => typeof input === "string"),
      this.#options.maxCharacters,
    );
    const { tokenIds } = this.#options;
    const longInput =
      this.#options.longInput ?? request.longInput ?? (countsOtherwise(request, tokenIds) ? "average" : "refuse");
    const decoded = await decodeTokenIds(request, tokenIds);
    const texts = "packedWeights" in this.#options.files ? withPrefixes(decoded, purpose) : decoded;
    try {
      const takeTurn = <Result>(batch: () => Promise<Result>) =>
        this.#turns.run(project, async () => {
          const result = await batch();
          await receiveMessages();
          return result;
        });
      const { values, tokens } = await this.#encoder.embed(texts, { longInput, signal, takeTurn });
      return { values, dimensions: this.dimensions, promptTokens: tokens, estimated: false };
    } catch (error) {
      throw toFault(error);
    }
  }

  health(): { state: "up" } {
    return { state: "up" };
  }

  close(): Promise<void> {
    return this.#encoder.close();
  }
}

/** Begins each text with the prefix that E5 was trained with, unless the caller wrote one. */
function withPrefixes(inputs: readonly EmbeddingInput[], purpose: EmbeddingRequest["purpose"]): EmbeddingInput[] {
  return inputs.map((input, index) => {
    if (typeof input !== "string" || /^(?:query|passage): /.test(input)) return input;
    return `${purpose === "ranking" && index > 0 ? "passage" : "query"}: ${input}`;
  });
}

function toFault(error: unknown): unknown {
  if (error instanceof TextTooLongError) {
    const { input, tokens, maxTokens } = error;
    const message = `Input ${input} has ${tokens} tokens; the maximum of this model is ${maxTokens}. Split it, or set \`long_input: average\` for the model.`;
    return invalidRequest(message, "input", "context_length_exceeded");
  }
  if (error instanceof UnknownTokenError) {
    const { input, position, id, vocabularySize } = error;
    const message = `Invalid token ID in input ${input} at position ${position}: ${id}. The IDs of this model go from 0 to ${vocabularySize - 1}.`;
    return invalidRequest(message, "input", "invalid_value");
  }
  return error;
}

export const open: HostedModule["open"] = (options) => SentenceEmbedding.open(options as SentenceEmbeddingOptions);
