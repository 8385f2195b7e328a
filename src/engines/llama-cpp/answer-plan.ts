/** How an answer comes to be: what it begins with, what it may hold, what it is held to. */

import type { Token } from "node-llama-cpp";
import { invalidRequest, unsupportedValue } from "../../faults.ts";
import type { ChatMessage, ChatRequest, Tool } from "../chat-model.ts";
import type { AnswerGrammars } from "./answer-grammars.ts";
import type { AnswerShape } from "./answer-parts.ts";
import type { ChatTemplate } from "./chat-template.ts";
import type { CallRules } from "./grammar-text.ts";
import { effortVariables, thinksUnasked } from "./reasoning-effort.ts";
import { type ReasoningMarks, reasoningMarksOf } from "./reasoning-marks.ts";
import { type ToolCallFormat, toolCallFormatOf } from "./tool-call-format.ts";
import type { GrammarState } from "./unpublished.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface AnswerPlan {
  shape: AnswerShape;
  /** Put after the prompt as the answer's beginning, of which the caller is told nothing. */
  prefill: string;
  /** From the content's, or a call's, beginning on. */
  contentGrammar: GrammarState | undefined;
  callGrammar: GrammarState | undefined;
  /** Whether a grammar holds the answer from its beginning, or from the end of its thoughts. */
  isHeld: boolean;
  /** Put in once the model has thought, where what follows is held to a grammar. */
  afterThought: string;
  /** Control tokens that say nothing. */
  silent: ReadonlySet<Token>;
  /** Tokens that must not be drawn. */
  banned: Iterable<Token>;
}

export class AnswerPlanner {
  readonly #template: ChatTemplate;
  readonly #marks: ReasoningMarks | undefined;
  readonly #calls: ToolCallFormat | undefined;
  readonly #grammars: Pick<AnswerGrammars, "get">;
  readonly #silent: ReadonlySet<Token>;

  constructor(
    template: ChatTemplate,
    vocabulary: Pick<Vocabulary, "endTexts" | "silentTokens">,
    grammars: Pick<AnswerGrammars, "get">,
  ) {
    this.#template = template;
    this.#marks = reasoningMarksOf(template);
    this.#calls = toolCallFormatOf(template, vocabulary.endTexts, this.#marks);
    this.#grammars = grammars;
    const { open: think = "", close: thought = "", frame = [] } = this.#marks ?? {};
    const { mark = "", open = "", afterName = "", between = "", close = "" } = this.#calls ?? {};
    this.#silent = vocabulary.silentTokens([think, thought, ...frame, mark, open, afterName, between, close]);
  }

  get thinks(): boolean {
    return this.#marks !== undefined;
  }

  get callsTools(): boolean {
    return this.#calls !== undefined;
  }

  /** What the template is given. Throws a Fault when it cannot be told what the request says. */
  said({ messages, tools, toolChoice, reasoningEffort }: ChatRequest): {
    messages: readonly ChatMessage[];
    tools: readonly Tool[];
    extra: Record<string, unknown>;
  } {
    const offered = toolChoice === "none" ? [] : tools;
    if (!this.callsTools) refuseTools(messages, offered);
    const extra = this.thinks ? effortVariables(this.#template, reasoningEffort) : {};
    return { messages, tools: offered, extra };
  }

  /** `prompt` ends where the answer begins. Throws a Fault that names what cannot be enforced. */
  async plan(request: ChatRequest, prompt: string): Promise<AnswerPlan> {
    const { format, toolChoice, reasoningEffort } = request;
    const calls = this.#callsOf(request);
    const isForced = calls !== undefined && toolChoice !== "auto";
    const isHeld = isForced || format.type !== "text";
    const end = prompt.trimEnd();
    const isThinking = this.#marks !== undefined && end.endsWith(this.#marks.open);
    const hasThought = this.#marks !== undefined && end.endsWith(this.#marks.close);
    // Held to a grammar from the first token on, a model that begins its thoughts by itself could not.
    const opensThought =
      isHeld &&
      this.thinks &&
      !hasThought &&
      !isThinking &&
      reasoningEffort !== "none" &&
      thinksUnasked(this.#template);
    const mark = isForced ? calls.format.mark : "";
    const { open = "", beforeAnswer = "", beforeCall = "" } = this.#marks ?? {};
    const thinksFirst = isThinking || opensThought;
    return {
      shape: {
        start: thinksFirst ? "reasoning" : isForced ? "call" : "content",
        hasThought,
        reasoning: this.#marks,
        calls: calls && { format: calls.format, names: calls.tools.map(({ name }) => name) },
      },
      isHeld,
      prefill: opensThought ? open : thinksFirst ? "" : mark,
      afterThought: isForced ? beforeCall + mark : isHeld ? beforeAnswer : "",
      ...(await this.#grammarsOf(request, calls, isForced)),
      silent: this.#silent,
      // Their texts would count as what the grammar asks for.
      banned: isHeld || calls !== undefined ? this.#silent : [],
    };
  }

  #callsOf({ tools, toolChoice, parallelToolCalls: several }: ChatRequest): CallRules | undefined {
    if (this.#calls === undefined || toolChoice === "none" || tools.length === 0) return undefined;
    const named = typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
    if (named.length === 0) {
      throw invalidRequest("tool_choice names a function that is not among `tools`.", "tool_choice");
    }
    return { format: this.#calls, tools: named, several: several && typeof toolChoice !== "object" };
  }

  async #grammarsOf(
    { format }: ChatRequest,
    calls: CallRules | undefined,
    isForced: boolean,
  ): Promise<Pick<AnswerPlan, "contentGrammar" | "callGrammar">> {
    if (isForced || format.type === "text") {
      return { callGrammar: calls && (await this.#grammars.get({ kind: "calls", calls })), contentGrammar: undefined };
    }
    if (calls === undefined) {
      return { callGrammar: undefined, contentGrammar: await this.#grammars.get({ kind: "format", format }) };
    }
    if (/^[{[]$/.test(calls.format.mark)) {
      throw unsupportedValue(
        "This model writes calls of tools as JSON of its own, so it cannot be held to a format while it may call tools.",
        "response_format",
      );
    }
    // In force from the beginning, so it holds calls as well.
    return { callGrammar: undefined, contentGrammar: await this.#grammars.get({ kind: "either", format, calls }) };
  }
}

function refuseTools(messages: readonly ChatMessage[], tools: readonly Tool[]): void {
  const why = "this model's chat template does not say how it calls tools";
  if (tools.length > 0) throw unsupportedValue(`tools are not supported: ${why}.`, "tools");
  const index = messages.findIndex(({ role, toolCalls = [] }) => role === "tool" || toolCalls.length > 0);
  if (index >= 0) {
    throw unsupportedValue(`Calls of tools and their results are not supported: ${why}.`, `messages[${index}]`);
  }
}
