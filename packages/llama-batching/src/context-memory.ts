import { INITIAL_TOKENS } from "./evaluation/growing-context.ts";
import { type GgufMetadata, readGgufMetadata, VOCABULARY_SIZE } from "./gguf-metadata.ts";

export interface ContextMemoryOptions {
  /** Absolute path of the GGUF file. */
  path: string;
  contextSize: number | undefined;
  slots: number;
  batchSize: number | undefined;
}

const BYTES_PER_VALUE = 2;
const BYTES_PER_LOGIT = 4;
const DEFAULT_BATCH_SIZE = 256;

/** Estimates the bytes that a context takes at first, from the file's metadata. Throws when the file cannot be read. */
export async function estimateContextBytes(options: ContextMemoryOptions): Promise<number> {
  const { path, contextSize = INITIAL_TOKENS, slots, batchSize = DEFAULT_BATCH_SIZE } = options;
  const metadata = await readGgufMetadata(path);
  const cache = Math.min(contextSize, INITIAL_TOKENS) * slots * cacheBytesPerToken(metadata);
  const logits = numberOf(metadata, VOCABULARY_SIZE) * (batchSize + slots) * BYTES_PER_LOGIT;
  return cache + logits;
}

/** Bytes of a token's keys and values, from the file's metadata; 0 where it does not say. Throws when it cannot be read. */
export async function estimateBytesPerToken(path: string): Promise<number> {
  return cacheBytesPerToken(await readGgufMetadata(path));
}

/** Bytes of keys and values of all layers; 0 where the metadata does not say. */
function cacheBytesPerToken(metadata: GgufMetadata): number {
  const architecture = metadata.get("general.architecture");
  const value = (name: string) => metadata.get(`${architecture}.${name}`);
  const layers = numberOf(metadata, `${architecture}.block_count`);
  const heads = numberOf(metadata, `${architecture}.attention.head_count`);
  const headsPerLayer = value("attention.head_count_kv") ?? heads;
  // Layers can differ.
  const cachedHeads = Array.isArray(headsPerLayer)
    ? headsPerLayer.reduce((sum, each) => sum + each, 0)
    : layers * Number(headsPerLayer);
  const width = numberOf(metadata, `${architecture}.embedding_length`) / Math.max(1, heads);
  const [key, values] = [value("attention.key_length") ?? width, value("attention.value_length") ?? width];
  return BYTES_PER_VALUE * cachedHeads * (Number(key) + Number(values));
}

function numberOf(metadata: GgufMetadata, key: string): number {
  const value = metadata.get(key);
  return typeof value === "number" ? value : 0;
}
