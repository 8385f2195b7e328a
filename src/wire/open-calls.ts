/** Calls of tools that no result has answered yet, by what results may name them with. */

interface OpenCall {
  id: string;
  name: string;
}

/** Calls in their order. Taken ones are skipped once: a list or a set is searched again for each of thousands of calls. */
interface Queue<Call> {
  calls: Call[];
  next: number;
}

type Named = { [Field in keyof OpenCall]?: string | null | undefined };

export class OpenCalls<Call extends OpenCall> {
  readonly #queues = new Map<string, Queue<Call>>();
  readonly #taken = new Set<Call>();

  add(call: Call): void {
    const { id, name } = call;
    for (const named of [{ id, name }, { id }, { name }, {}]) {
      const key = keyOf(named);
      const queue = this.#queues.get(key);
      if (queue === undefined) this.#queues.set(key, { calls: [call], next: 0 });
      else queue.calls.push(call);
    }
  }

  /** Takes the first call with this ID and this name, of which either may be left out; undefined without one. */
  take(named: Named): Call | undefined {
    const queue = this.#queues.get(keyOf(named));
    if (queue === undefined) return undefined;
    for (; queue.next < queue.calls.length; queue.next += 1) {
      const call = queue.calls[queue.next] as Call;
      if (this.#taken.has(call)) continue;
      this.#taken.add(call);
      return call;
    }
    return undefined;
  }
}

function keyOf({ id, name }: Named): string {
  return JSON.stringify([id ?? null, name ?? null]);
}
