/** What identifies an answer to its client. */
export interface AnswerIdentity {
  /** Without a prefix, which each format adds. */
  id: string;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Catalog ID that answers. */
  model: string;
}
