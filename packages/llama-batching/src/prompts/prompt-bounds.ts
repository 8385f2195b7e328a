/** Lower bounds of a prompt's token count, cheap to compute before the prompt is rendered. */

import type { PromptMessage } from "../types.ts";
import type { Vocabulary } from "../vocabulary.ts";
import type { ChatTemplate } from "./chat-template.ts";
import { escapePattern } from "./special-token-escaper.ts";

type Role = PromptMessage["role"];
type Content = (index: number) => string;

/** Conversations that grow by one message: the roles repeat. */
const ROLE_CYCLES: readonly Role[][] = [
  ["user", "assistant"],
  ["user"],
  ["assistant"],
  ["system"],
  ["developer"],
  ["tool"],
];
const [SHORT, LONG] = [2, 64];

export class PromptBounds {
  readonly #maxTokenBytes: number | undefined;
  readonly #tokensPerMessage: number;
  readonly #keepsContent: ReadonlySet<Role>;
  readonly #droppedMarks: readonly string[];

  /** `droppedMarks`: texts such as `</think>`; templates drop parts of an assistant message that contains one. */
  constructor(
    template: ChatTemplate,
    vocabulary: Pick<Vocabulary, "maxTokenBytes" | "specialTokenTexts">,
    droppedMarks: readonly string[] = [],
  ) {
    const probe = new TemplateProbe(template, vocabulary);
    this.#maxTokenBytes = vocabulary.maxTokenBytes;
    this.#tokensPerMessage = probe.tokensPerMessage();
    this.#keepsContent = new Set((["user", "assistant"] as const).filter((role) => probe.keepsContent(role)));
    this.#droppedMarks = droppedMarks;
  }

  /** The prompt of these messages has at least this many tokens. */
  minTokens(messages: readonly PromptMessage[]): number {
    return Math.max(Math.floor(messages.length * this.#tokensPerMessage), this.#minContentTokens(messages));
  }

  /** A conversation of more messages has more tokens than the window; Infinity when the template drops messages. */
  maxMessages(contextWindow: number): number {
    return Math.floor(contextWindow / this.#tokensPerMessage);
  }

  /** A rendered text has at least this many tokens. UTF-16 units never exceed UTF-8 bytes. */
  minTokensOfText(length: number): number {
    return this.#maxTokenBytes === undefined ? 0 : Math.ceil(length / this.#maxTokenBytes);
  }

  #minContentTokens(messages: readonly PromptMessage[]): number {
    let length = 0;
    for (const { role, content } of messages) {
      if (!this.#keepsContent.has(role) || this.#droppedMarks.some((mark) => content.includes(mark))) continue;
      // Templates trim.
      length += content.trim().length;
    }
    return this.minTokensOfText(length);
  }
}

/** Measures what a template adds around messages by rendering conversations of different lengths. */
class TemplateProbe {
  readonly #template: ChatTemplate;
  readonly #maxTokenBytes: number | undefined;
  readonly #specialTokens: RegExp | undefined;

  constructor(
    template: ChatTemplate,
    { maxTokenBytes, specialTokenTexts }: Pick<Vocabulary, "maxTokenBytes" | "specialTokenTexts">,
  ) {
    const texts = specialTokenTexts.filter((text) => text !== "").toSorted((a, b) => b.length - a.length);
    this.#template = template;
    this.#maxTokenBytes = maxTokenBytes;
    this.#specialTokens = texts.length === 0 ? undefined : new RegExp(texts.map(escapePattern).join("|"), "gu");
  }

  /** The fewest tokens that any message adds, an empty one included; 0 when the template drops messages. */
  tokensPerMessage(): number {
    const contents: Content[] = [() => "", () => "x"];
    const growths = ROLE_CYCLES.flatMap((roles) =>
      contents.flatMap((content) => {
        const [short, long] = [this.#render(roles, SHORT, content), this.#render(roles, LONG, content)];
        if (short === undefined || long === undefined) return [];
        return [(this.#minTokens(long) - this.#minTokens(short)) / (LONG - SHORT)];
      }),
    );
    return growths.length === 0 ? 0 : Math.max(0, Math.min(...growths));
  }

  /** Whether the contents of all messages of this role are part of the prompt. */
  keepsContent(role: Role): boolean {
    const content = (index: number) => `probe  ${index} of\nthe <b>content</b>.`;
    const rendered = this.#render(["user", "assistant"], LONG, content);
    const indexes = Array.from({ length: LONG / 2 }, (_, pair) => 2 * pair + (role === "user" ? 0 : 1));
    return rendered !== undefined && indexes.every((index) => rendered.includes(content(index)));
  }

  #render(roles: readonly Role[], count: number, content: Content): string | undefined {
    const messages = Array.from({ length: count }, (_, index) => ({
      role: roles[index % roles.length] as Role,
      content: content(index),
    }));
    try {
      return this.#template.render({ messages, forAnswer: false });
    } catch {
      return undefined;
    }
  }

  /** Special tokens are always one token each; no token spans one. */
  #minTokens(text: string): number {
    const segments = this.#specialTokens === undefined ? [text] : text.split(this.#specialTokens);
    const between = segments.filter((segment) => segment !== "");
    const ofSegment = (segment: string) =>
      this.#maxTokenBytes === undefined ? 1 : Math.ceil(segment.length / this.#maxTokenBytes);
    return segments.length - 1 + between.reduce((sum, segment) => sum + ofSegment(segment), 0);
  }
}
