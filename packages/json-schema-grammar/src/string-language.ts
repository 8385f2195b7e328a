/** Regular languages of strings over code points, compiled from ECMAScript patterns by refa. */

import type * as refa from "refa";
import { CharSet, DFA, JS, NFA, type NoParent, TooManyNodesError, Transformers, transform } from "refa";
import { type Automaton, type Edge, type Range, trim } from "./automaton.ts";
import { LIMITS } from "./limits.ts";

type Concatenation = NoParent<refa.Concatenation>;
type Element = NoParent<refa.Element>;

/** The pattern cannot be compiled to an automaton. The message completes a sentence for the caller. */
export class UnsupportedPattern extends Error {}

const MAXIMUM = { maxCharacter: 0x10ffff };
/** Excludes surrogates, which UTF-8 cannot encode. */
export const ALPHABET: readonly Range[] = [
  [0, 0xd7ff],
  [0xe000, 0x10ffff],
];
const CHARACTERS = CharSet.empty(MAXIMUM.maxCharacter).union(ALPHABET.map(([min, max]) => ({ min, max })));
const ANYTHING: Element = {
  type: "Quantifier",
  min: 0,
  max: Infinity,
  lazy: false,
  alternatives: [{ type: "Concatenation", elements: [{ type: "CharacterClass", characters: CHARACTERS }] }],
};

/** The strings in which `new RegExp(source, "u")` finds a match. Throws UnsupportedPattern. */
export function patternLanguage(source: string): DFA {
  return bounded(() => {
    const parser = JS.Parser.fromLiteral({ source, flags: "u" });
    const { expression } = parser.parse({ assertions: "parse", maxNodes: 20_000, maxBackreferenceWords: 0 });
    return languageOf(expression.alternatives);
  });
}

/** The strings of `min` to `max` code points. Throws UnsupportedPattern. */
export function lengthLanguage(min: number, max: number | undefined): DFA {
  if (min > LIMITS.automatonStates || (max ?? 0) > LIMITS.automatonStates) {
    throw tooManyStates();
  }
  const characters: Element = { ...ANYTHING, min, max: max ?? Infinity } as Element;
  return bounded(() => ofAlternatives([{ type: "Concatenation", elements: [characters] }], LIMITS.automatonStates));
}

/** Every string that a language does not contain. Throws UnsupportedPattern. */
export function complementLanguage(language: DFA): DFA {
  return bounded(() => {
    const others = DFA.fromFA(language, new DFA.LimitedNodeFactory(LIMITS.automatonStates));
    others.complement();
    return intersection(others, ofAlternatives([{ type: "Concatenation", elements: [ANYTHING] }]));
  });
}

/** Every string except these. */
export function complementOf(texts: Iterable<string>): DFA {
  return bounded(() => {
    const words = DFA.fromWords(
      [...texts].map(codePoints),
      MAXIMUM,
      new DFA.LimitedNodeFactory(LIMITS.automatonStates),
    );
    words.complement();
    return intersection(words, ofAlternatives([{ type: "Concatenation", elements: [ANYTHING] }]));
  });
}

/** Intersection of two languages. Throws UnsupportedPattern. */
export function intersect(left: DFA, right: DFA): DFA {
  return bounded(() => intersection(left, right));
}

export const codePoints = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0) ?? 0);

/** Converts to an automaton over code points; undefined for the empty language. */
export function automatonOf(language: DFA): Automaton | undefined {
  const numbered = new Map<DFA.ReadonlyNode, number>([[language.initial, 0]]);
  for (const node of numbered.keys()) {
    for (const target of node.out.values()) {
      if (!numbered.has(target)) {
        numbered.set(target, numbered.size);
      }
    }
  }
  return trim({
    states: [...numbered.keys()].map((node) => {
      const edges = new Map<number, Edge & { ranges: Array<[number, number]> }>();
      for (const [{ min, max }, target] of node.out) {
        const to = numbered.get(target) ?? 0;
        const edge = edges.get(to) ?? { ranges: [], to };
        edge.ranges.push([min, max]);
        edges.set(to, edge);
      }
      return { accepting: language.finals.has(node as DFA.Node), edges: [...edges.values()] };
    }),
  });
}

/** Lengths of the shortest and longest string in code points. Undefined for the empty language. */
export function lengthsOf(language: DFA): { min: number; max: number } | undefined {
  const automaton = automatonOf(language);
  if (automaton === undefined) {
    return undefined;
  }
  const { states } = automaton;
  let max = language.isFinite ? 0 : Infinity;
  let min = Infinity;
  let reached = new Set([0]);
  for (let length = 0; reached.size > 0 && length <= states.length; length += 1) {
    if ([...reached].some((state) => states[state]?.accepting)) {
      min = Math.min(min, length);
      max = Math.max(max, length);
    }
    if (max === Infinity && min !== Infinity) {
      break;
    }
    reached = new Set([...reached].flatMap((state) => (states[state]?.edges ?? []).map(({ to }) => to)));
  }
  return { min, max };
}

/** The strings in which an alternative matches anywhere, or at the start if `atStart`. */
function languageOf(alternatives: readonly Concatenation[], atStart = false): DFA {
  const plain: Concatenation[] = [];
  const guarded: DFA[] = [];
  for (const alternative of alternatives) {
    const { elements, anchored, lookaheads } = leadingAssertions(alternative.elements, atStart);
    const body = withOpenEnds(elements, anchored ? "nothing" : "anything", "anything");
    if (lookaheads.length === 0) {
      plain.push(body);
    } else {
      guarded.push(lookaheads.reduce(intersection, ofAlternatives([body])));
    }
  }
  return guarded.reduce(union, ofAlternatives(plain));
}

function leadingAssertions(elements: readonly Element[], atStart: boolean) {
  let anchored = atStart;
  let position = 0;
  const lookaheads: DFA[] = [];
  for (const element of elements) {
    if (element.type !== "Assertion") {
      break;
    }
    if (isEdge(element, "behind")) {
      anchored = true;
    } else if (element.kind === "ahead" && anchored && !isEdge(element, "ahead")) {
      const ahead = languageOf(element.alternatives, true);
      if (element.negate) {
        ahead.complement();
      }
      lookaheads.push(ahead);
    } else {
      break;
    }
    position += 1;
  }
  return { elements: elements.slice(position), anchored, lookaheads };
}

/** Whether the element is `^` (behind) or `$` (ahead). */
function isEdge(element: Element | undefined, kind: "ahead" | "behind"): boolean {
  if (element?.type !== "Assertion" || element.kind !== kind || !element.negate) {
    return false;
  }
  const [only, ...others] = element.alternatives;
  const [inner, ...rest] = only?.elements ?? [];
  return others.length + rest.length === 0 && inner?.type === "CharacterClass" && inner.characters.isAll;
}

/** What is adjacent to an end of the match: any text, the end of the string, or more of the pattern. */
type Beyond = "anything" | "nothing" | "pattern";

/** Adds `.*` to both ends, except where `^` or `$` anchors them, also inside groups. */
function withOpenEnds(elements: readonly Element[], before: Beyond, after: Beyond): Concatenation {
  let remaining = before;
  let right = after;
  let inner = [...elements];
  while (remaining !== "pattern" && isEdge(inner[0], "behind")) {
    remaining = "nothing";
    inner = inner.slice(1);
  }
  while (right !== "pattern" && isEdge(inner.at(-1), "ahead")) {
    right = "nothing";
    inner = inner.slice(0, -1);
  }
  const inGroup = (group: NoParent<refa.Alternation>, ...beyond: [Beyond, Beyond]): Element => ({
    type: "Alternation",
    alternatives: group.alternatives.map((alternative) => withOpenEnds(alternative.elements, ...beyond)),
  });
  const first = inner[0];
  const last = inner.at(-1);
  if (first?.type === "Alternation" && inner.length === 1) {
    return { type: "Concatenation", elements: [inGroup(first, remaining, right)] };
  }
  if (first?.type === "Alternation" && remaining !== "pattern") {
    inner[0] = inGroup(first, remaining, "pattern");
    remaining = "nothing";
  }
  if (last?.type === "Alternation" && right !== "pattern") {
    inner[inner.length - 1] = inGroup(last, "pattern", right);
    right = "nothing";
  }
  return {
    type: "Concatenation",
    elements: [...(remaining === "anything" ? [ANYTHING] : []), ...inner, ...(right === "anything" ? [ANYTHING] : [])],
  };
}

function ofAlternatives(alternatives: readonly Concatenation[], states: number = LIMITS.patternStates): DFA {
  const expression: NoParent<refa.Expression> = { type: "Expression", alternatives: copied(alternatives) };
  const applied = transform(Transformers.applyAssertions(), expression);
  const nfa = NFA.fromRegex(applied, MAXIMUM, {}, new NFA.LimitedNodeFactory(states));
  let ranges = 0;
  for (const node of nfa.nodes()) {
    for (const characters of node.out.values()) {
      ranges += characters.ranges.length;
    }
    if (ranges > LIMITS.characterRanges) {
      throw new UnsupportedPattern(`it needs more than ${LIMITS.characterRanges} character ranges`);
    }
  }
  return minimal(DFA.fromFA(nfa, new DFA.LimitedNodeFactory(LIMITS.automatonStates)));
}

/** Deep copy without surrogates. refa's transformers mutate their input, and its nodes reference their parents. */
function copied(alternatives: readonly Concatenation[]): Concatenation[] {
  return alternatives.map(({ elements }) => ({
    type: "Concatenation",
    elements: elements.map((element) =>
      "alternatives" in element
        ? { ...element, alternatives: copied(element.alternatives) }
        : element.type === "CharacterClass"
          ? { ...element, characters: element.characters.intersect(CHARACTERS) }
          : { ...element },
    ),
  }));
}

function intersection(left: DFA, right: DFA): DFA {
  return minimal(DFA.fromIntersection(left, right, new DFA.LimitedNodeFactory(LIMITS.automatonStates)));
}

function union(left: DFA, right: DFA): DFA {
  const nfa = NFA.fromFA(left, new NFA.LimitedNodeFactory(LIMITS.automatonStates));
  nfa.union(right, new NFA.LimitedNodeFactory(LIMITS.automatonStates));
  return minimal(DFA.fromFA(nfa, new DFA.LimitedNodeFactory(LIMITS.automatonStates)));
}

function minimal(language: DFA): DFA {
  language.minimize();
  return language;
}

function bounded<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof UnsupportedPattern) {
      throw error;
    }
    if (error instanceof TooManyNodesError || error instanceof RangeError) {
      throw tooManyStates();
    }
    throw new UnsupportedPattern(
      "it is not regular: backreferences, word boundaries and lookaround in the middle have no automaton",
      { cause: error },
    );
  }
}

const tooManyStates = () =>
  new UnsupportedPattern(
    `it needs more than ${LIMITS.patternStates} NFA states or ${LIMITS.automatonStates} DFA states`,
  );
