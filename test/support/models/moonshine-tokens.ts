/** Moonshine's tokens file for sherpa-onnx: the vocabulary is Llama's, followed by control tokens. */

const LLAMA_TOKENS = 32_000;
const TOKENS = 32_768;
/** llama-tokenizer-js holds the vocabulary, one token a line, and the merges as two long base64 literals. */
const BASE64_TEXT = /"([A-Za-z0-9+/=]{100000,})"/g;

/** Reads the vocabulary out of llama-tokenizer-js's source and writes a line per token: base64 text, tab, number. */
export function moonshineTokens(tokenizerSource: string): string {
  for (const [, base64 = ""] of tokenizerSource.matchAll(BASE64_TEXT)) {
    const tokens = Buffer.from(base64, "base64").toString("utf8").split("\n");
    if (tokens.length < LLAMA_TOKENS || tokens[0] !== "<unk>") continue;
    return Array.from({ length: TOKENS }, (_, id) => {
      const text = (id < LLAMA_TOKENS ? tokens[id] : undefined) ?? `<<ST_${id - LLAMA_TOKENS}>>`;
      return `${Buffer.from(text).toString("base64")}\t${id}\n`;
    }).join("");
  }
  throw new Error("The tokenizer's source does not hold Llama's vocabulary.");
}
