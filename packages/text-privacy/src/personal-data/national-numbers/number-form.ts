export interface NumberForm {
  type: string;
  pattern: RegExp;
  /** Checks the number without separators, in upper case. */
  isValid: (number: string, value: string) => boolean;
  /**
   * `alone`: the form says enough. `unless-thing`: so it does, unless words before it name an order or a part.
   * `context`: the form fits too many other numbers, so `words` must be near.
   */
  needs: "alone" | "unless-thing" | "context";
  /** Words that name the number. */
  words: RegExp;
}
