/** Renders messages and tools with the chat template and tokenizes the prompt. */

import { randomBytes } from "node:crypto";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { LlamaModel, Token } from "node-llama-cpp";
import type { PromptMessage, Tool, ToolCall } from "../types.ts";
import type { Vocabulary } from "../vocabulary.ts";
import type { ChatTemplate, RenderInput } from "./chat-template.ts";
import { PromptBounds } from "./prompt-bounds.ts";
import { detectReasoningTags } from "./reasoning-tags.ts";
import { SpecialTokenEscaper } from "./special-token-escaper.ts";
import { TemplateRenderer } from "./template-renderer.ts";

/** Tokenizing blocks the event loop (16 KB take 5 ms), so long texts are tokenized in pieces. */
const PIECE_LENGTH = 16_384;
/** Event-loop time after which tokenizing yields. */
const MAX_BLOCKING_MS = 10;

export interface PromptInput {
  messages: readonly PromptMessage[];
  tools: readonly Tool[];
  /** Additional template variables. */
  extra: Readonly<Record<string, unknown>>;
}

/** Pieces between which no control token can span. */
export type RenderedPrompt = readonly string[];

/** Texts between which no control token can span, and tokens. */
export type PromptPieces = readonly (string | Token)[] | readonly Token[];

export interface TokenizedPrompt {
  tokens: Token[];
  /** The complete prompt has at least this many. */
  minTokens: number;
  isComplete: boolean;
}

export class PromptBuilder {
  readonly bounds: PromptBounds;
  readonly #model: LlamaModel;
  readonly #renderer: TemplateRenderer;
  readonly #specialTokens: SpecialTokenEscaper;

  constructor(model: LlamaModel, template: ChatTemplate, vocabulary: Vocabulary) {
    this.#model = model;
    this.#renderer = new TemplateRenderer(template);
    this.#specialTokens = new SpecialTokenEscaper(vocabulary.specialTokenTexts);
    const reasoning = detectReasoningTags(template);
    this.bounds = new PromptBounds(
      template,
      vocabulary,
      reasoning === undefined ? [] : [reasoning.open, reasoning.close],
    );
  }

  /** Renders long conversations in a thread. Throws a RequestError when the template refuses the messages. */
  async render(input: PromptInput): Promise<RenderedPrompt> {
    const marker = newMarker();
    return (await this.#renderer.render(this.#escape(input, marker))).split(marker);
  }

  /** Returns the caller's beginning of an answer, of which no control token counts. */
  pieces(text: string): RenderedPrompt {
    const marker = newMarker();
    return this.#specialTokens.escape(text, marker).split(marker);
  }

  /** Splits special tokens in the caller's texts by `marker`. */
  #escape({ messages, tools, extra }: PromptInput, marker: string): RenderInput {
    const escapeText = (text: string) => this.#specialTokens.escape(text, marker);
    return {
      messages: messages.map(({ toolCalls, ...message }) => ({
        ...mapTexts(message, escapeText),
        role: message.role,
        ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => escapeCall(call, escapeText)) }),
      })),
      tools: tools.map(({ name, description, parameters }) => mapTexts({ name, description, parameters }, escapeText)),
      extra: mapTexts(extra, escapeText),
    };
  }

  /** Yields to the event loop between pieces. Stops between pieces once the prompt exceeds `maxTokens`, or on abort. */
  async tokenize(prompt: PromptPieces, maxTokens: number, signal: AbortSignal): Promise<TokenizedPrompt> {
    const tokens: Token[] = [];
    let remaining = prompt.reduce<number>((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0);
    let yieldedAt = performance.now();
    for (const piece of piecesOf(prompt)) {
      if (typeof piece !== "string") {
        tokens.push(piece);
        continue;
      }
      for (const token of this.#model.tokenize(piece, true)) tokens.push(token);
      remaining -= piece.length;
      const minTokens = tokens.length + this.bounds.minTokensOfText(remaining);
      if (remaining > 0 && (minTokens > maxTokens || signal.aborted)) return { tokens, minTokens, isComplete: false };
      if (performance.now() - yieldedAt < MAX_BLOCKING_MS) continue;
      await yieldToEventLoop();
      yieldedAt = performance.now();
    }
    const { bos, shouldPrependBosToken } = this.#model.tokens;
    const hasText = prompt.some((part) => typeof part === "string");
    // Token IDs are a complete prompt.
    if (hasText && shouldPrependBosToken && bos !== null && tokens[0] !== bos) tokens.unshift(bos);
    return { tokens, minTokens: tokens.length, isComplete: true };
  }
}

/** Private use characters around random digits: no message contains them and no template changes them. */
function newMarker(): string {
  return `\uE000${randomBytes(8).readBigUInt64LE()}\uE000`;
}

/** Parses the arguments first: JSON escapes could hide a special token until the template decodes them. */
function escapeCall({ arguments: text, ...call }: ToolCall, escapeText: (text: string) => string): ToolCall {
  return {
    ...mapTexts(call, escapeText),
    arguments: JSON.stringify(mapTexts(JSON.parse(text) as unknown, escapeText)),
  };
}

/** Maps all strings of a value, field names included. */
function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  const map = (each: unknown): unknown => {
    if (typeof each === "string") return change(each);
    if (Array.isArray(each)) return each.map(map);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [change(name), map(inner)]));
  };
  return map(value) as Value;
}

/** Cuts before a space that a word follows, where tokenizers split texts anyway. */
function* cutLongText(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > 2 * PIECE_LENGTH) {
    const offset = text.slice(start + PIECE_LENGTH, start + 2 * PIECE_LENGTH).search(/(?<=\S) (?=\p{L})/u);
    const end = offset === -1 ? endOfCharacter(text, start + PIECE_LENGTH) : start + PIECE_LENGTH + offset;
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function endOfCharacter(text: string, index: number): number {
  const isInside = /[\uD800-\uDBFF]/.test(text.charAt(index - 1));
  return isInside ? index + 1 : index;
}

function* piecesOf(prompt: PromptPieces): Generator<string | Token> {
  for (const part of prompt) {
    if (typeof part === "string") yield* cutLongText(part);
    else yield part;
  }
}
