/** Input items as they are stored and listed: with ids, and with content in parts. */

import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { type InputItem, isReference, type SentInput, typeOf } from "./responses-input.ts";

export interface ListedItem {
  id: string;
  [field: string]: unknown;
}

const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: "msg_",
  reasoning: "rs_",
  function_call: "fc_",
  function_call_output: "fco_",
  custom_tool_call: "ctc_",
  custom_tool_call_output: "ctco_",
  shell_call: "sh_",
  shell_call_output: "sho_",
  local_shell_call: "lsh_",
  apply_patch_call: "apc_",
  apply_patch_call_output: "apco_",
  computer_call: "cu_",
  computer_call_output: "cuo_",
  file_search_call: "fs_",
  web_search_call: "ws_",
  image_generation_call: "ig_",
  code_interpreter_call: "ci_",
  tool_search_call: "tsc_",
  tool_search_output: "tso_",
  mcp_list_tools: "mcpl_",
  mcp_call: "mcp_",
  mcp_approval_response: "mcpa_",
};

/** Gives every item a new id, since a client may send an item of an earlier answer again. */
export function toStoredItems(input: SentInput): ListedItem[] {
  if (typeof input === "string") return [toStoredItem({ role: "user", content: input })];
  return input.map(toStoredItem);
}

function toStoredItem(item: InputItem): ListedItem {
  const type = typeOf(item);
  const id = newId(ID_PREFIXES[type] ?? "item_");
  if (type !== "message") return { status: "completed", ...item, id, type };
  const { role, content } = item;
  const partType = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type: partType, text: content }] : content;
  return { ...item, id, type, status: "completed", content: parts };
}

/** Returns the ids of the items that the input refers to. */
export function referencedIds(input: SentInput): string[] {
  return typeof input === "string" ? [] : input.filter(isReference).map(({ id }) => String(id));
}

/** Replaces references by their items. Throws a Fault for an unknown one. */
export function replaceReferences(input: SentInput, found: ReadonlyMap<string, ListedItem>): SentInput {
  if (typeof input === "string" || !input.some(isReference)) return input;
  return input.map((item, index) => {
    if (!isReference(item)) return item;
    const id = String(item.id);
    const stored = found.get(id);
    if (stored !== undefined) return stored;
    const message = `There is no item \`${id.slice(0, 100)}\`. It was not stored, was deleted or has expired.`;
    throw new Fault("not-found", message, { param: `input[${index}].id` });
  });
}
