/** Parses GBNF and derives strings from it, independently of llama.cpp. */

type Item =
  | { type: "characters"; ranges: Array<[number, number]> }
  | { type: "rule"; name: string }
  | { type: "group"; alternatives: Item[][] }
  | { type: "repeat"; item: Item; min: number; max: number };

export class Grammar {
  readonly #rules = new Map<string, Item[][]>();
  readonly #shortest = new Map<string, number>();

  /** Throws on unknown notation. */
  constructor(text: string) {
    for (const line of text.split("\n")) {
      const [, name, body] = /^([\w-]+) ::= (.*)$/.exec(line) ?? [];
      if (name !== undefined && body !== undefined) {
        const reader = new Reader(body);
        this.#rules.set(name, reader.alternatives());
        reader.end();
      } else if (line !== "") {
        throw new Error(`no rule: ${line}`);
      }
    }
    this.#findShortest();
  }

  /** `random` returns numbers from 0 to below 1. After `budget` characters, takes the shortest derivation. */
  derive(random: () => number, budget: number): string {
    let written = "";
    const isFull = () => written.length > budget;
    const write = (item: Item): void => {
      switch (item.type) {
        case "characters": {
          const [first, last] = item.ranges[Math.floor(random() * item.ranges.length)] as [number, number];
          written += String.fromCodePoint(first + Math.floor(random() * (last - first + 1)));
          break;
        }
        case "rule":
          choose(this.#rules.get(item.name) ?? []);
          break;
        case "group":
          choose(item.alternatives);
          break;
        case "repeat": {
          const most = isFull() ? item.min : Math.min(item.max, item.min + Math.floor(random() * 6));
          for (let count = 0; count < most; count += 1) {
            write(item.item);
          }
        }
      }
    };
    const choose = (alternatives: Item[][]) => {
      const sorted = isFull()
        ? alternatives.toSorted((a, b) => this.#lengthOf(a) - this.#lengthOf(b)).slice(0, 1)
        : alternatives;
      for (const item of sorted[Math.floor(random() * sorted.length)] ?? []) {
        write(item);
      }
    };
    write({ type: "rule", name: "root" });
    return written;
  }

  #findShortest(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const [name, alternatives] of this.#rules) {
        const length = Math.min(...alternatives.map((items) => this.#lengthOf(items)));
        if (length < (this.#shortest.get(name) ?? Infinity)) {
          this.#shortest.set(name, length);
          changed = true;
        }
      }
    }
    for (const name of this.#rules.keys()) {
      if (!this.#shortest.has(name)) {
        throw new Error(`nothing finite can be derived from ${name}`);
      }
    }
  }

  #lengthOf(items: readonly Item[]): number {
    return items.reduce((sum, item) => sum + this.#length(item), 0);
  }

  #length(item: Item): number {
    switch (item.type) {
      case "characters":
        return 1;
      case "rule":
        // A small cost per rule keeps cycles of rules without characters from being the shortest derivation.
        return (this.#shortest.get(item.name) ?? Infinity) + 0.001;
      case "group":
        return Math.min(...item.alternatives.map((items) => this.#lengthOf(items)));
      case "repeat":
        return item.min === 0 ? 0 : item.min * this.#length(item.item);
    }
  }
}

class Reader {
  #rest: string;

  constructor(text: string) {
    this.#rest = text;
  }

  alternatives(): Item[][] {
    const alternatives = [this.#sequence()];
    while (this.#take(/^\|/)) {
      alternatives.push(this.#sequence());
    }
    return alternatives;
  }

  end(): void {
    if (this.#rest !== "") {
      throw new Error(`not read: ${this.#rest}`);
    }
  }

  #sequence(): Item[] {
    const items: Item[] = [];
    for (let item = this.#items(); item; item = this.#items()) {
      const last = item.pop();
      const [, min, , max] = this.#take(/^\{(\d+)(,(\d*))?\}/) ?? [];
      const sign = this.#take(/^[*+?]/)?.[0];
      items.push(...item);
      if (last && (min !== undefined || sign !== undefined)) {
        const least = min !== undefined ? Number(min) : sign === "+" ? 1 : 0;
        const most = min !== undefined ? Number(max ?? min) : sign === "?" ? 1 : Infinity;
        items.push({ type: "repeat", item: last, min: least, max: most });
      } else if (last) {
        items.push(last);
      }
    }
    return items;
  }

  #items(): Item[] | undefined {
    const name = this.#take(/^[\w-]+/);
    if (name) {
      return [{ type: "rule", name: name[0] }];
    }
    if (this.#take(/^\(/)) {
      const alternatives = this.alternatives();
      if (!this.#take(/^\)/)) {
        throw new Error(`no end of group: ${this.#rest}`);
      }
      return [{ type: "group", alternatives }];
    }
    const text = this.#take(/^"((?:[^"\\]|\\.)*)"/);
    if (text) {
      const items = [...characters(text[1] ?? "")].map(
        (code): Item => ({ type: "characters", ranges: [[code, code]] }),
      );
      return items;
    }
    const set = this.#take(/^\[((?:[^\]\\]|\\.)*)\]/);
    return set ? [{ type: "characters", ranges: ranges(set[1] ?? "") }] : undefined;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    const match = pattern.exec(this.#rest);
    if (match) {
      this.#rest = this.#rest.slice(match[0].length).trimStart();
    }
    return match ?? undefined;
  }
}

function* characters(text: string): Iterable<number> {
  for (const [match, escaped] of text.matchAll(/\\(x\w\w|u\w{4}|U\w{8}|.)|[^\\]/gu)) {
    if (escaped === undefined) {
      yield match.codePointAt(0) ?? 0;
    } else if (escaped.length > 1) {
      yield Number.parseInt(escaped.slice(1), 16);
    } else {
      yield { n: 10, r: 13, t: 9 }[escaped] ?? escaped.codePointAt(0) ?? 0;
    }
  }
}

function ranges(text: string): Array<[number, number]> {
  const parts = [...text.matchAll(/(\\(?:x\w\w|u\w{4}|U\w{8}|.)|[^\\])(?:-(\\(?:x\w\w|u\w{4}|U\w{8}|.)|[^\\]))?/gu)];
  return parts.map(([, first = "", last]) => {
    const [from = 0] = [...characters(first)];
    const [to = from] = [...characters(last ?? first)];
    return [from, to];
  });
}
