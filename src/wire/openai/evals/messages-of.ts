/** Texts of messages and items, for results and graders. */

type Fields = Readonly<Record<string, unknown>>;

/** Joins the texts of the messages among output items. */
export function outputTextOf(items: readonly Fields[]): string {
  return items.flatMap((item) => (item.type === "message" ? [textOf(item.content)] : [])).join("");
}

/** Shows messages of chats and items of responses by role and text; a call is shown as JSON. */
export function toSaid(messages: readonly unknown[]): { role: string; content: string }[] {
  return messages.map((message) => {
    const { role, type, content, output } = Object(message) as Fields;
    if (content == null && output == null) return { role: String(role ?? "assistant"), content: asText(message) };
    return {
      role: String(role ?? (type === "function_call_output" ? "tool" : "user")),
      content: textOf(content ?? output),
    };
  });
}

/** Text of the last message of the user; empty without one. */
export function lastQuestionOf(messages: readonly unknown[]): string {
  const last = messages.findLast((message) => (message as Fields | null)?.role === "user");
  return last === undefined ? "" : textOf((last as Fields).content);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [content];
  const texts = parts.flatMap((part) => {
    const { text } = Object(part) as Fields;
    return typeof text === "string" ? [text] : [];
  });
  return texts.length > 0 ? texts.join("\n") : asText(content);
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
