/** Facts of all-MiniLM-L6-v2 that its weights do not state. */

/** `num_attention_heads`. */
export const HEADS = 12;
/** `max_seq_length` of sentence-transformers. */
export const MAX_TOKENS = 256;
