/** Requests JSON in the prompt for upstreams that cannot enforce it. */

import type { AnswerFormat } from "../../../contracts/chat-model.ts";

type Body = Readonly<Record<string, unknown>>;
type Message = Record<string, unknown>;

/**
 * The body with the format as a part of the first system message, since many chat templates take only one, at the start;
 * without `response_format`, which such upstreams refuse or ignore.
 */
export function withInstruction(sent: Body, format: AnswerFormat): Record<string, unknown> {
  const { response_format: _format, stream: _stream, stream_options: _options, ...body } = sent;
  const [first, ...others] = body.messages as Message[];
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0;
  const instruction = `${hasTools ? "Unless you call a tool: " : ""}${instructionOf(format)}`;
  const isSystem = first?.role === "system" || first?.role === "developer";
  const messages = isSystem
    ? [{ ...first, content: append(first.content, instruction) }, ...others]
    : [{ role: "system", content: instruction }, first, ...others];
  return { ...body, messages };
}

/** Builds the body that requests one answer again, with the error of the last. */
export function withViolation(body: Body, answer: string, violation: string): Record<string, unknown> {
  const { n: _choices, ...rest } = body;
  const again = `That is not valid: ${violation}. Answer again with the JSON value alone.`;
  const messages = [
    ...(body.messages as Message[]),
    { role: "assistant", content: answer },
    { role: "user", content: again },
  ];
  return { ...rest, messages };
}

function instructionOf(format: AnswerFormat): string {
  const alone = "Answer with nothing else: no explanation, no Markdown.";
  if (format.type !== "json-schema") return `Answer with one JSON object. ${alone}`;
  return `Answer with one JSON value that is valid by this JSON schema. ${alone}\n\n${JSON.stringify(format.schema)}`;
}

function append(content: unknown, text: string): unknown {
  return Array.isArray(content) ? [...content, { type: "text", text }] : `${content}\n\n${text}`;
}
