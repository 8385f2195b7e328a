/** A deterministic finite automaton over code points. `states[0]` is the start state. */
export interface Automaton {
  states: readonly AutomatonState[];
}

interface AutomatonState {
  accepting: boolean;
  edges: readonly Edge[];
}

export interface Edge {
  ranges: readonly Range[];
  to: number;
}

/** First and last code point, both inclusive. */
export type Range = readonly [first: number, last: number];

/** Accepts exactly these strings. */
export function wordsAutomaton(texts: Iterable<string>): Automaton {
  return { states: wordTree(texts).map(({ isEnd, next }) => ({ accepting: isEnd, edges: edgesTo(next) })) };
}

/** Accepts every string over `alphabet`, whose ranges are sorted, except these. */
export function complementAutomaton(texts: Iterable<string>, alphabet: readonly Range[]): Automaton {
  const tree = wordTree(texts);
  const others = tree.length;
  return {
    states: [
      ...tree.map(({ isEnd, next }) => ({
        accepting: !isEnd,
        edges: [...edgesTo(next), { ranges: withoutCharacters(alphabet, next), to: others }],
      })),
      { accepting: true, edges: [{ ranges: alphabet, to: others }] },
    ],
  };
}

interface WordNode {
  isEnd: boolean;
  next: Map<number, number>;
}

function wordTree(texts: Iterable<string>): WordNode[] {
  const root: WordNode = { isEnd: false, next: new Map() };
  const nodes = [root];
  for (const text of texts) {
    let node = root;
    for (const character of text) {
      const code = character.codePointAt(0) ?? 0;
      const index = node.next.get(code) ?? nodes.push({ isEnd: false, next: new Map() }) - 1;
      node.next.set(code, index);
      node = nodes[index] as WordNode;
    }
    node.isEnd = true;
  }
  return nodes;
}

const edgesTo = (next: ReadonlyMap<number, number>): Edge[] =>
  [...next].map(([code, to]) => ({ ranges: [[code, code]], to }));

function withoutCharacters(alphabet: readonly Range[], characters: ReadonlyMap<number, number>): Range[] {
  let ranges = [...alphabet];
  for (const code of characters.keys()) {
    ranges = ranges.flatMap(([first, last]): Range[] => {
      if (code < first || code > last) {
        return [[first, last]];
      }
      return [
        ...(first < code ? [[first, code - 1] as const] : []),
        ...(code < last ? [[code + 1, last] as const] : []),
      ];
    });
  }
  return ranges;
}

/** Removes the states that cannot reach an accepting state. Returns undefined when the automaton accepts nothing. */
export function trim(automaton: Automaton): Automaton | undefined {
  const before: number[][] = automaton.states.map(() => []);
  for (const [from, state] of automaton.states.entries()) {
    for (const { to } of state.edges) {
      before[to]?.push(from);
    }
  }
  const alive = new Set(automaton.states.flatMap((state, index) => (state.accepting ? [index] : [])));
  for (const index of alive) {
    for (const from of before[index] ?? []) {
      alive.add(from);
    }
  }
  if (!alive.has(0)) {
    return undefined;
  }
  const renamed = new Map([...alive].sort((a, b) => a - b).map((index, position) => [index, position]));
  return {
    states: [...renamed.keys()].map((index) => {
      const state = automaton.states[index] as AutomatonState;
      return {
        accepting: state.accepting,
        edges: state.edges.flatMap(({ ranges, to }) => {
          const target = renamed.get(to);
          return target === undefined ? [] : [{ ranges, to: target }];
        }),
      };
    }),
  };
}
