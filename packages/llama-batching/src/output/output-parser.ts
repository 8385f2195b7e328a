/** Splits streamed output into reasoning, content and tool calls. */

import type { ReasoningTags } from "../prompts/reasoning-tags.ts";
import { type JsonCall, JsonCallMatcher } from "./json-call-matcher.ts";
import { PartialMatcher } from "./partial-match.ts";
import type { ToolCallFormat } from "./tool-call-format.ts";
import { type CallableTool, type CallPart, ToolCallParser } from "./tool-call-parser.ts";

export type Phase = "reasoning" | "content" | "call";
export type OutputPart = { type: "reasoning" | "text"; text: string } | CallPart;

export interface OutputSyntax {
  /** Phase in which the output starts, as the end of the prompt implies. */
  start: Phase;
  /** Whether the prompt ends after the model's reasoning. */
  isReasoningDone: boolean;
  reasoning: ReasoningTags | undefined;
  calls:
    | {
        format: ToolCallFormat;
        names: readonly string[];
        /** The same with their schemas, by which arguments with tags are read. */
        tools?: readonly CallableTool[];
        /** Whether an output that begins as a call in plain JSON is one. */
        recognizesJson?: boolean;
      }
    | undefined;
}

export interface ParsedOutput {
  parts: OutputPart[];
  /** A tag was completed: another phase begins, and `rest` of the pushed text belongs to it. */
  transition: Transition | undefined;
}

export interface Transition {
  phase: Phase;
  rest: string;
  /** Beginning of a call in the model's own form, for which the model wrote plain JSON. */
  callBeginning?: string;
}

export class OutputParser {
  readonly #reasoning: ReasoningTags | undefined;
  readonly #calls: ToolCallParser | undefined;
  readonly #trigger: string | undefined;
  readonly #jsonCalls: { matcher: JsonCallMatcher; format: ToolCallFormat } | undefined;
  /** A trigger such as `{` also occurs in plain text; it counts only at the beginning of the output. */
  readonly #isTriggerInitialOnly: boolean;
  #phase: Phase;
  #isJsonCall = false;
  #held = "";
  /** Whether this phase has had only white space and frame texts so far. */
  #isAtStart = true;
  #isReasoningDone: boolean;

  constructor({ start, isReasoningDone, reasoning, calls }: OutputSyntax) {
    this.#reasoning = reasoning;
    this.#calls =
      calls === undefined
        ? undefined
        : new ToolCallParser(calls.format, calls.tools ?? calls.names.map((name) => ({ name })));
    this.#trigger = calls?.format.trigger;
    this.#jsonCalls =
      calls?.recognizesJson === true ? { matcher: new JsonCallMatcher(calls.names), format: calls.format } : undefined;
    this.#isTriggerInitialOnly = /^[{[]$/.test(calls?.format.trigger ?? "");
    this.#phase = start;
    this.#isReasoningDone = isReasoningDone || start === "reasoning";
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Whether nothing can follow: a call that was written as JSON is complete. */
  get isComplete(): boolean {
    return this.#isJsonCall && this.#calls?.isCallComplete === true;
  }

  /** After a transition, push `rest` again, unless those tokens are sampled again. */
  push(text: string): ParsedOutput {
    if (this.#phase === "call") return { parts: this.#calls?.push(text) ?? [], transition: undefined };
    this.#held += text;
    return this.#phase === "reasoning" ? this.#parseReasoning() : this.#parseContent();
  }

  /** Returns the text that was held back. Call at the end of the output. */
  end(): OutputPart[] {
    const text = this.#held;
    this.#held = "";
    if (this.#phase === "reasoning") return partsOf("reasoning", text.trimEnd());
    return partsOf("text", this.#isAtStart && this.#isReasoningDone ? text.trimStart() : text);
  }

  #parseReasoning(): ParsedOutput {
    const { close } = this.#reasoning as ReasoningTags;
    if (this.#isAtStart) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(close);
    if (end >= 0) {
      const reasoning = this.#held.slice(0, end).trimEnd();
      return { parts: partsOf("reasoning", reasoning), transition: this.#enter("content", end + close.length) };
    }
    const text = this.#release(new PartialMatcher([close]), true);
    if (text !== "") this.#isAtStart = false;
    return { parts: partsOf("reasoning", text), transition: undefined };
  }

  #parseContent(): ParsedOutput {
    if (this.#isAtStart) {
      const start = this.#parseStart();
      if (start !== undefined) return start;
    }
    const trigger = this.#isTriggerInitialOnly ? undefined : this.#trigger;
    const at = trigger === undefined ? -1 : this.#held.indexOf(trigger);
    if (trigger !== undefined && at >= 0) {
      const text = this.#held.slice(0, at).trimEnd();
      return { parts: partsOf("text", text), transition: this.#enter("call", at + trigger.length) };
    }
    const text = this.#release(new PartialMatcher(trigger === undefined ? [] : [trigger]), trigger !== undefined);
    return { parts: partsOf("text", text), transition: undefined };
  }

  /** Returns undefined once content has certainly begun. */
  #parseStart(): ParsedOutput | undefined {
    const nothing: ParsedOutput = { parts: [], transition: undefined };
    const open = this.#isReasoningDone ? undefined : this.#reasoning?.open;
    const trigger = this.#isTriggerInitialOnly ? this.#trigger : undefined;
    const tags = [open, ...(this.#reasoning?.frame ?? []), trigger].filter((each) => each !== undefined);
    const text = this.#skipFrames();
    const indent = this.#held.length - text.length;
    if (open !== undefined && text.startsWith(open)) {
      return { parts: [], transition: this.#enter("reasoning", indent + open.length) };
    }
    if (trigger !== undefined && text.startsWith(trigger)) {
      return { parts: [], transition: this.#enter("call", indent + trigger.length) };
    }
    const jsonCall = this.#jsonCalls?.matcher.match(text);
    if (jsonCall === "partial") return nothing;
    if (jsonCall !== undefined) return this.#beginJsonCall(jsonCall, indent);
    const isUndecided = tags.length > 0 && (text === "" || tags.some((tag) => tag.startsWith(text)));
    if (isUndecided || (this.#isReasoningDone && text === "")) return nothing;
    if (this.#isReasoningDone) this.#held = text;
    this.#isAtStart = false;
    return undefined;
  }

  /** Drops the frames that stand before the reasoning, and returns what follows without white space. */
  #skipFrames(): string {
    for (;;) {
      const text = this.#held.trimStart();
      const frame = this.#reasoning?.frame?.find((each) => text.startsWith(each));
      if (frame === undefined) return text;
      this.#held = text.slice(frame.length);
    }
  }

  #beginJsonCall({ name, end }: JsonCall, indent: number): ParsedOutput {
    const { open = "", afterName = "" } = this.#jsonCalls?.format ?? {};
    this.#isJsonCall = true;
    const callBeginning = open + name + afterName;
    const parts = this.#calls?.push(callBeginning) ?? [];
    return { parts, transition: { ...this.#enter("call", indent + end), callBeginning } };
  }

  #enter(phase: Phase, at: number): { phase: Phase; rest: string } {
    const rest = this.#held.slice(at);
    this.#held = "";
    this.#phase = phase;
    this.#isAtStart = true;
    if (phase === "reasoning" || this.#reasoning !== undefined) this.#isReasoningDone = true;
    return { phase, rest };
  }

  /** Returns the text that is final: no suffix that may become a tag, and no white space that may precede one. */
  #release(tags: PartialMatcher, holdsSpace: boolean): string {
    const end = this.#held.length - tags.partialLength(this.#held);
    const releasedLength = holdsSpace ? this.#held.slice(0, end).trimEnd().length : end;
    const text = this.#held.slice(0, releasedLength);
    this.#held = this.#held.slice(releasedLength);
    return text;
  }
}

function partsOf(type: "reasoning" | "text", text: string): OutputPart[] {
  return text === "" ? [] : [{ type, text }];
}
