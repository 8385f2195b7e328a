/** Moonshine's tokens file, which its packages do not have: the vocabulary is Llama's, with tokens for control after it. */

const LLAMA_TOKENS = 32_000;
const TOKENS = 32_768;
/** The tokenizer's source holds two long base64 texts: the merges, and before or after it the vocabulary, one token a line. */
const BASE64_TEXT = /"([A-Za-z0-9+/=]{100000,})"/g;

/**
 * From the source of npm's llama-tokenizer-js, which is read and not run, the file that sherpa-onnx asks for: a line for
 * each token with its text in base64, a tab and its number. Throws when the source is not what it has to be.
 */
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
