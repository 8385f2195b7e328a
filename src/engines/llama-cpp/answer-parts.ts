/** Tells an answer's text apart as it comes: what the model thinks, what it says, which tools it calls. */

import { PossibleBeginnings } from "./possible-beginnings.ts";
import type { ReasoningMarks } from "./reasoning-marks.ts";
import type { ToolCallFormat } from "./tool-call-format.ts";
import { type CallPart, ToolCallText } from "./tool-call-text.ts";

export type Phase = "reasoning" | "content" | "call";
export type AnswerPart = { type: "reasoning" | "text"; text: string } | CallPart;

export interface AnswerShape {
  /** What the prompt's end leaves the answer to begin with. */
  start: Phase;
  /** The prompt's end says that the model has thought already. */
  hasThought: boolean;
  reasoning: ReasoningMarks | undefined;
  calls: { format: ToolCallFormat; names: readonly string[] } | undefined;
}

export interface ReadParts {
  parts: AnswerPart[];
  /** A mark was read to its end: what follows is of another kind, and `rest` of the pushed text belongs to it. */
  entered: { phase: Phase; rest: string } | undefined;
}

export class AnswerParts {
  readonly #reasoning: ReasoningMarks | undefined;
  readonly #calls: ToolCallText | undefined;
  readonly #mark: string | undefined;
  /** A mark that plain text may hold as well counts only where an answer begins. */
  readonly #isMarkInitial: boolean;
  #phase: Phase;
  #held = "";
  /** Whether nothing but white space and frames were said in this phase. */
  #isAtStart = true;
  #hasThought: boolean;

  constructor({ start, hasThought, reasoning, calls }: AnswerShape) {
    this.#reasoning = reasoning;
    this.#calls = calls === undefined ? undefined : new ToolCallText(calls.format, calls.names);
    this.#mark = calls?.format.mark;
    this.#isMarkInitial = /^[{[]$/.test(calls?.format.mark ?? "");
    this.#phase = start;
    this.#hasThought = hasThought || start === "reasoning";
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** After `entered`, the rest is to be pushed anew, unless it is to be drawn anew. */
  push(text: string): ReadParts {
    if (this.#phase === "call") return { parts: this.#calls?.push(text) ?? [], entered: undefined };
    this.#held += text;
    return this.#phase === "reasoning" ? this.#think() : this.#say();
  }

  /** What was kept back, once nothing can follow it. */
  end(): AnswerPart[] {
    const text = this.#held;
    this.#held = "";
    if (this.#phase === "reasoning") return partsOf("reasoning", text.trimEnd());
    return partsOf("text", this.#isAtStart && this.#hasThought ? text.trimStart() : text);
  }

  #think(): ReadParts {
    const { close } = this.#reasoning as ReasoningMarks;
    if (this.#isAtStart) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(close);
    if (end >= 0) {
      const thought = this.#held.slice(0, end).trimEnd();
      return { parts: partsOf("reasoning", thought), entered: this.#enter("content", end + close.length) };
    }
    const text = this.#release(new PossibleBeginnings([close]), true);
    if (text !== "") this.#isAtStart = false;
    return { parts: partsOf("reasoning", text), entered: undefined };
  }

  #say(): ReadParts {
    if (this.#isAtStart) {
      const started = this.#start();
      if (started !== undefined) return started;
    }
    const mark = this.#isMarkInitial ? undefined : this.#mark;
    const at = mark === undefined ? -1 : this.#held.indexOf(mark);
    if (mark !== undefined && at >= 0) {
      const text = this.#held.slice(0, at).trimEnd();
      return { parts: partsOf("text", text), entered: this.#enter("call", at + mark.length) };
    }
    const text = this.#release(new PossibleBeginnings(mark === undefined ? [] : [mark]), mark !== undefined);
    return { parts: partsOf("text", text), entered: undefined };
  }

  /** Undefined once it is plain that text has begun. */
  #start(): ReadParts | undefined {
    const nothing: ReadParts = { parts: [], entered: undefined };
    const open = this.#hasThought ? undefined : this.#reasoning?.open;
    const frames = this.#reasoning?.frame ?? [];
    const marks = [open, ...frames, this.#isMarkInitial ? this.#mark : undefined].filter((each) => each !== undefined);
    let text = this.#held.trimStart();
    for (let frame = frames.find((each) => text.startsWith(each)); frame !== undefined; ) {
      this.#held = text.slice(frame.length);
      text = this.#held.trimStart();
      frame = frames.find((each) => text.startsWith(each));
    }
    const indent = this.#held.length - text.length;
    if (open !== undefined && text.startsWith(open)) {
      return { parts: [], entered: this.#enter("reasoning", indent + open.length) };
    }
    if (this.#isMarkInitial && this.#mark !== undefined && text.startsWith(this.#mark)) {
      return { parts: [], entered: this.#enter("call", indent + this.#mark.length) };
    }
    const isOpen = marks.length > 0 && (text === "" || marks.some((mark) => mark.startsWith(text)));
    if (isOpen || (this.#hasThought && text === "")) return nothing;
    if (this.#hasThought) this.#held = text;
    this.#isAtStart = false;
    return undefined;
  }

  #enter(phase: Phase, at: number): { phase: Phase; rest: string } {
    const rest = this.#held.slice(at);
    this.#held = "";
    this.#phase = phase;
    this.#isAtStart = true;
    if (phase === "reasoning" || this.#reasoning !== undefined) this.#hasThought = true;
    return { phase, rest };
  }

  /** What can be given out: no end that may become one of the marks, and no white space that may stand before one. */
  #release(marks: PossibleBeginnings, keepsSpace: boolean): string {
    const whole = this.#held.length - marks.atEndOf(this.#held);
    const kept = keepsSpace ? this.#held.slice(0, whole).trimEnd().length : whole;
    const text = this.#held.slice(0, kept);
    this.#held = this.#held.slice(kept);
    return text;
  }
}

function partsOf(type: "reasoning" | "text", text: string): AnswerPart[] {
  return text === "" ? [] : [{ type, text }];
}
