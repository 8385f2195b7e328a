/** What the guardrails of a policy do with a text of an answer while it arrives. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { MaskingTransform } from "@parlance-inference/text-privacy/masking-transform";
import {
  type Placeholders,
  RestoringTransform,
  type TextForm,
  type TextTransform,
} from "@parlance-inference/text-privacy/placeholders";
import { actionOf, checks, type Guardrail } from "../../contracts/guardrail.ts";
import { finderOf, type TextFinder } from "./finders.ts";
import { type GuardContext, OUTCOMES } from "./guarded-texts.ts";
import { type Judge, judgeOf } from "./judges.ts";
import { maskComplete, OutputBlocked } from "./mask-complete.ts";

/** `push` returns what is final, `end` the rest. Throws `OutputBlocked` before anything that is blocked. */
export interface OutputTransform {
  push(piece: string): string | Promise<string>;
  end(): string | Promise<string>;
}

/** Characters that are checked together: fewer cost more calls, more delay the reader. */
const CHECKED_CHARACTERS = 240;
/** Characters before them that are checked again as their context. */
const CONTEXT_CHARACTERS = 800;
/** Characters at the end in which a value may go on. */
const UNDECIDED_CHARACTERS = 64;
const MAX_HELD_CHARACTERS = 2000;

/** Whether the policy does anything with an answer. */
export function checksOutput(policy: readonly Guardrail[], placeholders: Placeholders): boolean {
  return (
    placeholders.count > 0 || policy.some((guardrail) => guardrail.type !== "moderation" && checks(guardrail, "output"))
  );
}

/** Whether another service or model judges the answer, whose failure is an error status if it comes first. */
export function asksAboutOutput(policy: readonly Guardrail[]): boolean {
  return policy.some(
    (guardrail) =>
      checks(guardrail, "output") &&
      (guardrail.type === "topics" || guardrail.type === "webhook" || guardrail.engine === "presidio"),
  );
}

interface CheckedText {
  isComplete: boolean;
  /** What the caller began the text with; the answer goes on with it. */
  before?: string;
}

/** Returns the transforms for one text of the answer. Values come back last: services of others never see them. */
export function outputTransforms(
  policy: readonly Guardrail[],
  placeholders: Placeholders,
  context: GuardContext,
  { form, ...text }: CheckedText & { form: TextForm },
): OutputTransform[] {
  const checking = policy.filter((guardrail) => checks(guardrail, "output"));
  const transforms = checking.flatMap((guardrail) => transformOf(guardrail, context, text) ?? []);
  if (placeholders.count > 0) transforms.push(inPieces(new RestoringTransform(placeholders, form)));
  return transforms;
}

/** Returns what one guardrail does with a text; undefined: nothing, as moderation is done elsewhere. */
export function transformOf(
  guardrail: Guardrail,
  context: GuardContext,
  { isComplete, before = "" }: CheckedText,
): OutputTransform | undefined {
  const finder = finderOf(guardrail, context);
  if (finder !== undefined) {
    return isComplete
      ? new CompleteTransform(guardrail, finder, context)
      : findingTransform(guardrail, finder, context, before);
  }
  const judge = judgeOf(guardrail, { ...context.judge, services: context.services, signal: context.signal });
  return judge && new JudgedTransform(guardrail, judge, context, before);
}

function findingTransform(
  guardrail: Guardrail,
  finder: TextFinder,
  context: GuardContext,
  before: string,
): OutputTransform {
  context.report.note(guardrail.type, "output", "passed");
  if (finder.findNow === undefined) return new AskingTransform(guardrail, finder, context, before);
  const replace = replacer(guardrail, context);
  const masking = new MaskingTransform({
    find: finder.findNow,
    replace: ({ type }, value) => replace(type, value),
    span: finder.span,
    before,
  });
  return inPieces(masking);
}

/** Characters that a transform gets at once. */
const PIECE_CHARACTERS = 16_384;

/** Gives others their turn between the pieces of a long text that arrives at once. */
function inPieces(transform: TextTransform): OutputTransform {
  const pushAll = async (text: string) => {
    const output: string[] = [];
    for (let from = 0; from < text.length; from += PIECE_CHARACTERS) {
      if (from > 0) await nextTurn();
      output.push(transform.push(text.slice(from, from + PIECE_CHARACTERS)));
    }
    return output.join("");
  };
  return {
    push: (text) => (text.length > PIECE_CHARACTERS ? pushAll(text) : transform.push(text)),
    end: () => transform.end(),
  };
}

/** Notes a match and returns what takes its place. Throws `OutputBlocked`. */
function replacer(guardrail: Guardrail, { report }: GuardContext): (type: string, value: string) => string {
  const action = actionOf(guardrail);
  return (type, value) => {
    report.note(guardrail.type, "output", OUTCOMES[action], [type]);
    if (action === "block") throw new OutputBlocked(guardrail, [type]);
    return action === "report" ? value : `<${type}>`;
  };
}

/** Holds a text until its end, such as tool arguments, which nobody reads before: JSON has to stay JSON. */
class CompleteTransform implements OutputTransform {
  readonly #guardrail: Guardrail;
  readonly #finder: TextFinder;
  readonly #context: GuardContext;
  #text = "";

  constructor(guardrail: Guardrail, finder: TextFinder, context: GuardContext) {
    this.#guardrail = guardrail;
    this.#finder = finder;
    this.#context = context;
  }

  push(piece: string): string {
    this.#text += piece;
    return "";
  }

  async end(): Promise<string> {
    const [text = ""] = await maskComplete(this.#guardrail, this.#finder, [this.#text], this.#context);
    return text;
  }
}

/** Asks another service about a few sentences at a time. */
class AskingTransform implements OutputTransform {
  readonly #finder: TextFinder;
  readonly #context: GuardContext;
  readonly #replace: (type: string, value: string) => string;
  /** Text that the reader has. */
  #before: string;
  #held = "";

  constructor(guardrail: Guardrail, finder: TextFinder, context: GuardContext, before: string) {
    this.#before = before.slice(-CONTEXT_CHARACTERS);
    this.#finder = finder;
    this.#context = context;
    this.#replace = replacer(guardrail, context);
  }

  push(piece: string): string | Promise<string> {
    this.#held += piece;
    return this.#held.length < CHECKED_CHARACTERS + UNDECIDED_CHARACTERS ? "" : this.#check(false);
  }

  end(): string | Promise<string> {
    return this.#held === "" ? "" : this.#check(true);
  }

  async #check(isEnd: boolean): Promise<string> {
    const text = this.#before + this.#held;
    const from = this.#before.length;
    const matches = (await this.#finder.find(text, this.#context.signal)).filter(({ end }) => end > from);
    let until = isEnd || this.#held.length > MAX_HELD_CHARACTERS ? text.length : text.length - UNDECIDED_CHARACTERS;
    for (const { start, end } of matches) if (start < until && end > until) until = Math.max(from, start);
    let output = "";
    let at = from;
    for (const { type, start, end } of matches) {
      if (start >= until) break;
      const begin = Math.max(at, start);
      output += text.slice(at, begin) + this.#replace(type, text.slice(begin, end));
      at = end;
    }
    output += text.slice(at, Math.max(at, until));
    at = Math.max(at, until);
    this.#before = text.slice(Math.max(0, at - CONTEXT_CHARACTERS), at);
    this.#held = text.slice(at);
    return output;
  }
}

/** Passes a few sentences on once they were judged together with those before them. */
class JudgedTransform implements OutputTransform {
  readonly #guardrail: Guardrail;
  readonly #judge: Judge;
  readonly #context: GuardContext;
  #before: string;
  #held = "";

  constructor(guardrail: Guardrail, judge: Judge, context: GuardContext, before: string) {
    this.#before = before.slice(-CONTEXT_CHARACTERS);
    this.#guardrail = guardrail;
    this.#judge = judge;
    this.#context = context;
  }

  push(piece: string): string | Promise<string> {
    this.#held += piece;
    return this.#held.length < CHECKED_CHARACTERS ? "" : this.#check();
  }

  end(): string | Promise<string> {
    return this.#held === "" ? "" : this.#check();
  }

  async #check(): Promise<string> {
    const { type } = this.#guardrail;
    const { report, signal } = this.#context;
    const pending = this.#held;
    // A webhook may rewrite what it is asked about, so it does not get what was already passed on.
    const text = type === "webhook" ? pending : this.#before + pending;
    let verdict: Awaited<ReturnType<Judge>>;
    try {
      verdict = await this.#judge([text], "output");
    } catch (failure) {
      if (!signal.aborted) report.note(type, "output", "failed");
      throw failure;
    }
    const { findings, texts, hasFailed = false } = verdict;
    const output = texts?.[0] ?? pending;
    const action = actionOf(this.#guardrail);
    const outcome = hasFailed
      ? "failed"
      : findings.length > 0
        ? OUTCOMES[action]
        : output === pending
          ? "passed"
          : "masked";
    report.note(type, "output", outcome, findings);
    if (findings.length > 0 && action === "block") throw new OutputBlocked(this.#guardrail, findings);
    this.#before = (this.#before + pending).slice(-CONTEXT_CHARACTERS);
    this.#held = "";
    return output;
  }
}
