/** Recognizes a tool in the form of another API, for an error message that says how it is written. */

import { type Fault, invalidRequest } from "../kernel/faults.ts";

export type ToolForm = "chat" | "responses" | "messages";

const FORMS: Readonly<Record<ToolForm, { api: string; shape: string }>> = {
  chat: {
    api: "chat completions",
    shape: '{"type": "function", "function": {"name", "description", "parameters"}}',
  },
  responses: { api: "the Responses API", shape: '{"type": "function", "name", "description", "parameters"}' },
  messages: { api: "the Messages API", shape: '{"name", "description", "input_schema"}' },
};

/** Returns a Fault if the error at `path` is that of a tool in another API's form; undefined otherwise. */
export function otherToolForm(body: unknown, path: readonly PropertyKey[], form: ToolForm): Fault | undefined {
  const [field, index] = path;
  if (field !== "tools" || typeof index !== "number") return undefined;
  const { tools } = body as { tools?: unknown };
  return Array.isArray(tools) ? describeOtherForm(tools[index], index, form) : undefined;
}

/** Returns a Fault if `tools[index]` has the form of another API than `form`; undefined otherwise. */
export function describeOtherForm(tool: unknown, index: number, form: ToolForm): Fault | undefined {
  const sent = formOf(tool);
  if (sent === undefined || sent === form) return undefined;
  const path = `tools[${index}]`;
  const message = `'${path}' has the form of ${FORMS[sent].api}. Here a tool is ${FORMS[form].shape}.`;
  return invalidRequest(message, path, "invalid_value");
}

function formOf(tool: unknown): ToolForm | undefined {
  if (typeof tool !== "object" || tool === null) return undefined;
  const { type, name, function: nested, input_schema: schema } = tool as Record<string, unknown>;
  if (typeof nested === "object" && nested !== null && name === undefined) return "chat";
  if (typeof name !== "string") return undefined;
  if (typeof schema === "object" && schema !== null) return "messages";
  return type === "function" ? "responses" : undefined;
}
