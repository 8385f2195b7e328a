/** Schemas of conversations and of the items in lists. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { openAnswers } from "../openai/open-variants.ts";
import { named } from "../openapi/named.ts";
import { call, item, OUTPUT } from "./item-answers.ts";

const nullable = z.string().nullable();
const fields = z.record(z.string(), z.unknown());

function resultOf<Type extends string>(type: Type) {
  return lazy.looseObject(() => ({
    ...item,
    type: z.literal(type),
    call_id: z.string(),
    output: z.union([z.string(), z.array(fields), fields]),
  }));
}

/** Item of the input of a response, or of a conversation. */
export const ListedItem = named(
  "ResponseItem",
  openAnswers({
    ...OUTPUT,
    function_call_output: named("ResponseFunctionCallOutput", resultOf("function_call_output")),
    custom_tool_call_output: named("ResponseCustomToolCallOutput", resultOf("custom_tool_call_output")),
    shell_call_output: named("ResponseShellCallOutput", resultOf("shell_call_output")),
    local_shell_call_output: named(
      "ResponseLocalShellCallOutput",
      lazy.looseObject(() => ({ ...item, type: z.literal("local_shell_call_output"), output: z.string() })),
    ),
    apply_patch_call_output: named(
      "ResponseApplyPatchCallOutput",
      lazy.looseObject(() => ({
        ...call,
        type: z.literal("apply_patch_call_output"),
        output: nullable.optional(),
      })),
    ),
    computer_call_output: named("ResponseComputerCallOutput", resultOf("computer_call_output")),
    mcp_approval_response: named(
      "ResponseMcpApprovalResponse",
      lazy.looseObject(() => ({
        ...item,
        type: z.literal("mcp_approval_response"),
        approval_request_id: z.string(),
        approve: z.boolean(),
        reason: nullable.optional(),
      })),
    ),
  }),
);

export const ItemList = named(
  "ResponseItemList",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(ListedItem),
    first_id: nullable,
    last_id: nullable,
    has_more: z.boolean(),
  })),
);

export const Conversation = named(
  "Conversation",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("conversation"),
    created_at: z.int(),
    metadata: z.record(z.string(), z.string()),
  })),
);
