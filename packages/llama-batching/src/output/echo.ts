/** The prompt's text in front of a choice. */
export interface Echo {
  text: string;
  /** Index of the prompt's first token that the text contains. */
  firstToken: number;
}
