/** Bodies of requests with a stored prompt: what the request leaves out comes from the prompt. */

import type { PromptContent } from "./prompt-content.ts";
import type { RenderedMessage } from "./render-prompt.ts";

type Body = Readonly<Record<string, unknown>>;

/** Returns the body of a response. Its messages go in front of the input, like instructions, and are not stored with it. */
export function applyToResponse(body: Body, content: PromptContent): Record<string, unknown> {
  const { text, reasoning } = body as { text?: object | null; reasoning?: object | null };
  return {
    ...body,
    ...unset(body, {
      model: content.model,
      temperature: content.temperature,
      top_p: content.top_p,
      max_output_tokens: content.max_output_tokens,
      tools: content.tools,
    }),
    ...(content.format !== undefined && { text: { format: content.format, ...text } }),
    ...(content.reasoning_effort !== undefined && { reasoning: { effort: content.reasoning_effort, ...reasoning } }),
  };
}

/** Returns the body of a chat completion without `prompt`. */
export function applyToChat(
  { prompt: _prompt, ...body }: Body,
  content: PromptContent,
  rendered: readonly RenderedMessage[],
): Record<string, unknown> {
  const sent = Array.isArray(body.messages) ? body.messages : [];
  return {
    ...body,
    messages: [...rendered.map(toChatMessage), ...sent],
    ...unset(body, {
      model: content.model,
      temperature: content.temperature,
      top_p: content.top_p,
      max_completion_tokens: body.max_tokens == null ? content.max_output_tokens : undefined,
      reasoning_effort: content.reasoning_effort,
      response_format: content.format && toChatFormat(content.format),
      tools: content.tools?.map(({ type, ...tool }) => ({ type, function: tool })),
    }),
  };
}

/** Values of the prompt for fields that the body lacks. */
function unset(body: Body, values: Body): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== undefined && body[name] == null),
  );
}

function toChatFormat(format: NonNullable<PromptContent["format"]>): object {
  if (format.type !== "json_schema") return format;
  const { type, ...schema } = format;
  return { type, json_schema: schema };
}

function toChatMessage({ role, content }: RenderedMessage): object {
  return { role, content: typeof content === "string" ? content : content.map(toChatPart) };
}

function toChatPart(part: Readonly<Record<string, unknown>>): object {
  if (part.type === "input_image") {
    const { image_url: url, detail, file_id: file } = part;
    return { type: "image_url", image_url: { url: url ?? file, ...(detail != null && { detail }) } };
  }
  if (part.type !== "input_file") return { type: "text", text: part.text };
  const { type: _type, ...file } = part;
  return { type: "file", file };
}
