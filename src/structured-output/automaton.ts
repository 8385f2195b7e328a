/** A deterministic automaton over code points; `states[0]` is where it begins. */
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

/** First and last code point, both included. */
export type Range = readonly [first: number, last: number];

/** Without the states from which no accepted text can be reached; undefined when nothing is accepted at all. */
export function trimmed(automaton: Automaton): Automaton | undefined {
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
