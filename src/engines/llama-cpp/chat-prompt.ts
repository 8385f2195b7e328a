/** Turns what a request says into the tokens of a prompt. */

import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { LlamaModel, Token } from "node-llama-cpp";
import type { ChatMessage, Tool, ToolCall } from "../chat-model.ts";
import type { ChatTemplate } from "./chat-template.ts";
import { SpecialTexts } from "./special-texts.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Making tokens holds up all else in this process (400 KB take 120 ms), so long texts are made in pieces. */
const PIECE_LENGTH = 65_536;

export interface Said {
  messages: readonly ChatMessage[];
  tools: readonly Tool[];
  /** Further variables of the template. */
  extra: Readonly<Record<string, unknown>>;
}

/** Parts with what callers wrote told apart from what the template says, as far as control tokens are concerned. */
export type RenderedPrompt = readonly string[];

export class ChatPrompt {
  readonly #model: LlamaModel;
  readonly #template: ChatTemplate;
  readonly #specialTexts: SpecialTexts;

  constructor(model: LlamaModel, template: ChatTemplate, { specialTexts }: Vocabulary) {
    this.#model = model;
    this.#template = template;
    this.#specialTexts = new SpecialTexts(specialTexts);
  }

  /** Throws a Fault when the model's template refuses the messages. */
  render({ messages, tools, extra }: Said): RenderedPrompt {
    // Private use characters around what nobody can guess: no message holds it and no template changes it.
    const marker = `\uE000${randomBytes(8).readBigUInt64LE()}\uE000`;
    const safe = (text: string) => this.#specialTexts.breakUp(text, marker);
    const rendered = this.#template.render({
      messages: messages.map(({ toolCalls, ...message }) => ({
        ...mapTexts(message, safe),
        role: message.role,
        ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => safeCall(call, safe)) }),
      })),
      tools: tools.map(({ name, description, parameters }) => mapTexts({ name, description, parameters }, safe)),
      extra,
    });
    return rendered.split(marker);
  }

  async toTokens(prompt: RenderedPrompt): Promise<Token[]> {
    const tokens: Token[] = [];
    for (const part of prompt) {
      for (const piece of cutLongText(part)) {
        for (const token of this.#model.tokenize(piece, true)) tokens.push(token);
        if (piece.length >= PIECE_LENGTH) await nextTurn();
      }
    }
    const { bos, shouldPrependBosToken } = this.#model.tokens;
    if (shouldPrependBosToken && bos !== null && tokens[0] !== bos) tokens.unshift(bos);
    return tokens;
  }
}

/** Escapes in the arguments' text could hide a special text until the template reads them. */
function safeCall({ arguments: text, ...call }: ToolCall, safe: (text: string) => string): ToolCall {
  return { ...mapTexts(call, safe), arguments: JSON.stringify(mapTexts(JSON.parse(text) as unknown, safe)) };
}

/** The same with all texts changed, names of fields too. */
function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  const map = (each: unknown): unknown => {
    if (typeof each === "string") return change(each);
    if (Array.isArray(each)) return each.map(map);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [change(name), map(inner)]));
  };
  return map(value) as Value;
}

/** Pieces end before a space that a word follows, where tokenizers part texts anyway. */
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
