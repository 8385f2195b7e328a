/** Decides how a request is decoded: its prefill, its output syntax and its grammars. */

import type { Token } from "node-llama-cpp";
import { RequestError } from "./errors.ts";
import type { OutputSyntax } from "./output/output-parser.ts";
import { detectToolCallFormat, type ToolCallFormat } from "./output/tool-call-format.ts";
import type { ChatTemplate } from "./prompts/chat-template.ts";
import { GENERIC_TOOL_FORMAT, GenericTools } from "./prompts/generic-tools.ts";
import { reasoningEffortVariables, reasonsByDefault } from "./prompts/reasoning-effort.ts";
import { detectReasoningTags, type ReasoningTags } from "./prompts/reasoning-tags.ts";
import type { GrammarCache } from "./sampling/grammar-cache.ts";
import type { GrammarState } from "./sampling/grammar-state.ts";
import type { CallRules } from "./sampling/grammar-text.ts";
import type { GenerationRequest, PromptMessage, Tool } from "./types.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface DecodingPlan {
  syntax: OutputSyntax;
  /** Appended to the prompt as the beginning of the output and not shown to the caller. */
  prefill: string;
  /** In force from the beginning of the content. */
  contentGrammar: GrammarState | undefined;
  /** In force from the trigger of a tool call on. */
  callGrammar: GrammarState | undefined;
  /** Whether a grammar constrains the output from its beginning, or from the end of the reasoning. */
  isConstrained: boolean;
  /** Inserted after the reasoning when the output that follows is constrained. */
  afterReasoning: string;
  /** Control tokens left out of the text. */
  hiddenTokens: ReadonlySet<Token>;
  /** Tokens that must not be sampled. */
  bannedTokens: Iterable<Token>;
}

export class DecodingPlanner {
  readonly #template: ChatTemplate;
  readonly #tags: ReasoningTags | undefined;
  readonly #calls: ToolCallFormat;
  /** Undefined: the template has a place for tools. */
  readonly #genericTools: GenericTools | undefined;
  readonly #grammars: Pick<GrammarCache, "get">;
  readonly #hiddenTokens: ReadonlySet<Token>;

  constructor(
    template: ChatTemplate,
    vocabulary: Pick<Vocabulary, "endTexts" | "hiddenTokens">,
    grammars: Pick<GrammarCache, "get">,
  ) {
    this.#template = template;
    this.#tags = detectReasoningTags(template);
    const detected = detectToolCallFormat(template, vocabulary.endTexts, this.#tags);
    this.#calls = detected ?? GENERIC_TOOL_FORMAT;
    this.#genericTools = detected === undefined ? new GenericTools(template) : undefined;
    this.#grammars = grammars;
    const { open: reasoningOpen = "", close: reasoningClose = "", frame = [] } = this.#tags ?? {};
    const { trigger = "", open = "", afterName = "", between = "", close = "", tagged } = this.#calls;
    const tags = tagged === undefined ? [] : [tagged, tagged.text ?? {}, tagged.other].flatMap(textsOf);
    this.#hiddenTokens = vocabulary.hiddenTokens([
      reasoningOpen,
      reasoningClose,
      ...frame,
      trigger,
      open,
      afterName,
      between,
      close,
      ...tags,
    ]);
  }

  get reasons(): boolean {
    return this.#tags !== undefined;
  }

  /** Plan of a prompt that bypasses the chat template: plain text, with nothing detected or enforced. */
  get rawPlan(): DecodingPlan {
    return {
      syntax: { start: "content", isReasoningDone: false, reasoning: undefined, calls: undefined },
      isConstrained: false,
      prefill: "",
      afterReasoning: "",
      contentGrammar: undefined,
      callGrammar: undefined,
      hiddenTokens: this.#hiddenTokens,
      bannedTokens: [],
    };
  }

  /** Input of the chat template. Throws a RequestError when the template does not support the reasoning effort. */
  promptInput({ messages, tools, toolChoice, reasoningEffort, templateVariables }: GenerationRequest): {
    messages: readonly PromptMessage[];
    tools: readonly Tool[];
    extra: Record<string, unknown>;
  } {
    const offered = toolChoice === "none" ? [] : tools;
    const effort = this.reasons ? reasoningEffortVariables(this.#template, reasoningEffort) : {};
    const extra = { ...callerVariables(templateVariables), ...effort };
    if (this.#genericTools === undefined) return { messages, tools: offered, extra };
    return { messages: this.#genericTools.toPlainMessages(messages, offered), tools: [], extra };
  }

  /** `prompt` ends where the output begins. Throws a RequestError that names what cannot be enforced. */
  async plan(request: GenerationRequest, prompt: string): Promise<DecodingPlan> {
    const { format, toolChoice } = request;
    const calls = this.#callRules(request);
    const isForced = calls !== undefined && toolChoice !== "auto";
    const isConstrained = isForced || format.type !== "text";
    if (request.prefill !== undefined) return this.#continuationPlan(request, calls, isConstrained, prompt);
    const end = prompt.trimEnd();
    const isReasoning = this.#tags !== undefined && end.endsWith(this.#tags.open);
    const isReasoningDone = this.#tags !== undefined && end.endsWith(this.#tags.close);
    const opensReasoning = isConstrained && !isReasoningDone && !isReasoning && this.#opensReasoning(request);
    const reasonsFirst = isReasoning || opensReasoning;
    return {
      syntax: {
        start: reasonsFirst ? "reasoning" : isForced ? "call" : "content",
        isReasoningDone,
        reasoning: this.#tags,
        calls: calls && {
          format: calls.format,
          names: calls.tools.map(({ name }) => name),
          tools: calls.tools,
          recognizesJson: !isConstrained && isJsonFormat(calls.format),
        },
      },
      isConstrained,
      ...this.#texts(isForced ? calls.format.trigger : undefined, { isConstrained, reasonsFirst, opensReasoning }),
      ...(await this.#grammarsFor(request, calls, isForced)),
      hiddenTokens: this.#hiddenTokens,
      // The grammar would accept their texts.
      bannedTokens: isConstrained || calls !== undefined ? this.#hiddenTokens : [],
    };
  }

  /** Plan of an answer that has begun: nothing can come before its content any more. */
  async #continuationPlan(
    request: GenerationRequest,
    calls: CallRules | undefined,
    isConstrained: boolean,
    prompt: string,
  ): Promise<DecodingPlan> {
    if (isConstrained) {
      const message =
        "An answer that has begun cannot be held to a schema or a tool: leave out the last message, or response_format and tool_choice.";
      throw new RequestError(message, "messages", "unsupported_value");
    }
    const { open, close = "", beforeContent = "" } = this.#tags ?? {};
    const isReasoning = open !== undefined && prompt.trimEnd().endsWith(open);
    // A call in plain JSON is only known at the beginning of an answer.
    const later = calls === undefined || beginsAnswer(calls.format) ? undefined : calls;
    return {
      ...this.rawPlan,
      syntax: {
        ...this.rawPlan.syntax,
        calls: later && { format: later.format, names: later.tools.map(({ name }) => name), tools: later.tools },
      },
      prefill: (isReasoning ? close : "") + withoutEndOf(prompt, beforeContent),
      ...(await this.#grammarsFor(request, later, false)),
      bannedTokens: later === undefined ? [] : this.#hiddenTokens,
    };
  }

  /** Constrained from the first token on, the model could not open its reasoning by itself. */
  #opensReasoning({ reasoningEffort }: GenerationRequest): boolean {
    return this.reasons && reasoningEffort !== "none" && reasonsByDefault(this.#template);
  }

  /** Texts that the model does not write itself. `trigger`: begins a forced call. */
  #texts(
    trigger: string | undefined,
    {
      isConstrained,
      reasonsFirst,
      opensReasoning,
    }: Record<"isConstrained" | "reasonsFirst" | "opensReasoning", boolean>,
  ): Pick<DecodingPlan, "prefill" | "afterReasoning"> {
    const { open = "", beforeContent = "", beforeCall = "" } = this.#tags ?? {};
    const afterReasoning = trigger === undefined ? (isConstrained ? beforeContent : "") : beforeCall + trigger;
    if (opensReasoning) return { prefill: open, afterReasoning };
    return { prefill: reasonsFirst ? "" : (trigger ?? ""), afterReasoning };
  }

  #callRules({ tools, toolChoice, parallelToolCalls }: GenerationRequest): CallRules | undefined {
    if (toolChoice === "none" || tools.length === 0) return undefined;
    const offered = typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
    if (offered.length === 0) {
      throw new RequestError("tool_choice names a function that is not among `tools`.", "tool_choice");
    }
    return { format: this.#calls, tools: offered, allowsParallel: parallelToolCalls && typeof toolChoice !== "object" };
  }

  async #grammarsFor(
    { format }: GenerationRequest,
    calls: CallRules | undefined,
    isForced: boolean,
  ): Promise<Pick<DecodingPlan, "contentGrammar" | "callGrammar">> {
    if (isForced || format.type === "text") {
      return { callGrammar: calls && (await this.#grammars.get({ kind: "calls", calls })), contentGrammar: undefined };
    }
    if (calls === undefined) {
      return { callGrammar: undefined, contentGrammar: await this.#grammars.get({ kind: "format", format }) };
    }
    if (beginsAnswer(calls.format)) {
      throw new RequestError(
        "This model writes tool calls as plain JSON, so a response format cannot be enforced while it may call tools. Leave out response_format or set tool_choice.",
        "response_format",
        "unsupported_value",
      );
    }
    // In force from the beginning, so it holds calls as well.
    return { callGrammar: undefined, contentGrammar: await this.#grammars.get({ kind: "either", format, calls }) };
  }
}

function textsOf(tags: object): string[] {
  return Object.values(tags).filter((text) => typeof text === "string");
}

/** True for a trigger that also occurs in plain text, so that it counts only at the beginning of an answer. */
function beginsAnswer({ trigger }: ToolCallFormat): boolean {
  return /^[{[]$/.test(trigger);
}

/** Returns the rest of `text`, with whose beginning the prompt ends. */
function withoutEndOf(prompt: string, text: string): string {
  let length = text.length;
  while (length > 0 && !prompt.endsWith(text.slice(0, length))) length -= 1;
  return text.slice(length);
}

/** True if a call is a JSON object with the name first, as in the templates of Qwen and Hermes. */
function isJsonFormat({ trigger, open, afterName }: ToolCallFormat): boolean {
  return /"name": ?"$/.test(trigger + open) && /^", ?"(?:arguments|parameters)": ?$/.test(afterName);
}

/** The request's own messages and tools go through escaping and checks that these names would bypass. */
const RESERVED_VARIABLES: ReadonlySet<string> = new Set(["messages", "tools", "add_generation_prompt"]);

function callerVariables(variables: GenerationRequest["templateVariables"] = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !RESERVED_VARIABLES.has(name)));
}
