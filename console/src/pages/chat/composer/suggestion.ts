/** What `#` and `/` in a draft ask for: a store that the model searches, or a stored prompt. */

export interface Suggestion {
  kind: "store" | "prompt";
  /** What follows the sign. */
  search: string;
  /** Where the sign stands, and where the search ends. */
  start: number;
  end: number;
}

/** Reads the word at the cursor. `/` begins a prompt only at the start of the draft, where a path is unlikely. */
export function suggestionAt(draft: string, cursor: number): Suggestion | undefined {
  const before = draft.slice(0, cursor);
  const store = /(?:^|\s)#([^\s#]{0,60})$/.exec(before);
  if (store !== null) return suggestion("store", store[1] ?? "", cursor);
  const prompt = /^\/([^\s/]{0,60})$/.exec(before);
  return prompt === null ? undefined : suggestion("prompt", prompt[1] ?? "", cursor);
}

function suggestion(kind: Suggestion["kind"], search: string, end: number): Suggestion {
  return { kind, search, start: end - search.length - 1, end };
}

/** Returns the draft without the word that asked. */
export function withoutSuggestion(draft: string, { start, end }: Suggestion): string {
  return draft.slice(0, start) + draft.slice(end);
}
