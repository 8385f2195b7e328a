const WORDS = 4;

/** A unique ID. `crypto.randomUUID` is absent where the console is read over plain HTTP from another machine. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint32Array(WORDS))].map((word) => word.toString(16).padStart(8, "0")).join("");
}
