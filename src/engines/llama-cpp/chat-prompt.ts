/** Turns messages into the tokens of a prompt. */

import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { LlamaModel, Token } from "node-llama-cpp";
import type { ChatMessage } from "../chat-model.ts";
import { ChatTemplate } from "./chat-template.ts";
import { SpecialTexts } from "./special-texts.ts";

/** Making tokens holds up all else in this process (400 KB take 120 ms), so long texts are made in pieces. */
const PIECE_LENGTH = 65_536;

export class ChatPrompt {
  readonly #model: LlamaModel;
  readonly #template: ChatTemplate;
  readonly #specialTexts: SpecialTexts;

  constructor(model: LlamaModel, warn: (message: string) => void) {
    const source = model.fileInfo.metadata.tokenizer?.chat_template;
    if (source === undefined) warn("The model file has no chat template; ChatML is used, which it may not know");
    const { bosString, eosString } = model.tokens;
    this.#model = model;
    this.#template = new ChatTemplate(source, { bos_token: bosString ?? "", eos_token: eosString ?? "" });
    this.#specialTexts = new SpecialTexts(specialTextsOf(model));
  }

  /** Throws a Fault when the model's template refuses the messages. */
  async toTokens(messages: readonly ChatMessage[]): Promise<Token[]> {
    // Private use characters around what nobody can guess: no message holds it and no template changes it.
    const marker = `\uE000${randomBytes(8).readBigUInt64LE()}\uE000`;
    const rendered = this.#template.render(
      messages.map(({ role, content }) => ({ role, content: this.#specialTexts.breakUp(content, marker) })),
    );
    const tokens: Token[] = [];
    for (const part of rendered.split(marker)) {
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

/** What llama.cpp turns into control tokens wherever it stands in a text. */
function specialTextsOf(model: LlamaModel): string[] {
  const texts: string[] = [];
  for (const token of model.iterateAllTokens()) {
    const { control, unknown } = model.getTokenAttributes(token);
    if (control || unknown || model.isEogToken(token)) texts.push(model.detokenize([token], true));
  }
  return texts;
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
