/** Keeps one tool call per choice for callers who take one: upstreams without `parallel_tool_calls` answer with several. */

type Fields = Record<string, unknown>;

export class FirstCalls {
  /** IDs of the first calls, by choice; "" while it is not known. */
  readonly #ids = new Map<unknown, unknown>();

  /** Removes further calls from the message or delta of each choice. Returns whether it removed any. */
  keepIn(choices: readonly unknown[]): boolean {
    let hasRemoved = false;
    for (const choice of choices) {
      const { index = 0, delta, message = delta } = (choice ?? {}) as Fields;
      const calls = (message as Fields | null | undefined)?.tool_calls;
      if (!Array.isArray(calls)) continue;
      const remaining = calls.filter((call, position) => this.#isFirst(index, call, position));
      if (remaining.length === calls.length) continue;
      hasRemoved = true;
      if (remaining.length > 0) (message as Fields).tool_calls = remaining;
      else delete (message as Fields).tool_calls;
    }
    return hasRemoved;
  }

  /** Some upstreams count all calls as the first one, each with an ID. */
  #isFirst(choice: unknown, call: unknown, position: number): boolean {
    const { index = position, id } = (call ?? {}) as Fields;
    if (index !== 0) return false;
    if (typeof id !== "string" || id === "") return true;
    const first = this.#ids.get(choice);
    if (first === undefined) this.#ids.set(choice, id);
    return first === undefined || first === id;
  }
}
