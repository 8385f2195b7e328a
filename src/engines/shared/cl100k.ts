/** Token IDs of OpenAI's embedding models back to text. Import it on demand: it holds the ranks of cl100k_base. */

import ranks from "js-tiktoken/ranks/cl100k_base";
import { invalidRequest } from "../../kernel/faults.ts";

/** The package's `Tiktoken` also builds the tables for encoding, which takes over a second and 80 MB. */
const TOKENS = new Map<number, string>();
for (const line of ranks.bpe_ranks.split("\n")) {
  const [, first, ...tokens] = line.split(" ");
  for (const [index, token] of tokens.entries()) TOKENS.set(Number(first) + index, token);
}
for (const [text, id] of Object.entries<number>(ranks.special_tokens)) TOKENS.set(id, btoa(text));

/** `input` is the index of the input, for the message. Throws a Fault for an ID that cl100k_base does not have. */
export function decodeCl100k(ids: readonly number[], input: number): string {
  const parts = ids.map((id, position) => {
    const token = TOKENS.get(id);
    if (token !== undefined) return Buffer.from(token, "base64");
    const message = `Invalid token ID in input ${input} at position ${position}: ${id}. Token IDs are those of cl100k_base here. Send the text, or the model's own IDs with \`token_ids\` set to \`model\`.`;
    throw invalidRequest(message, "input", "invalid_value");
  });
  return Buffer.concat(parts).toString();
}
