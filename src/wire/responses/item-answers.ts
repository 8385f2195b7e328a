/** Items of responses and conversations as clients get them. What an upstream or a client wrote may have further fields. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { TokenLogprob } from "../openai/chat/completion-answers.ts";
import { openAnswers } from "../openai/open-variants.ts";
import { named } from "../openapi/named.ts";

const nullable = z.string().nullable();
const count = z.int().min(0);
const fields = z.record(z.string(), z.unknown());

const item = {
  id: z.string(),
  status: nullable.optional().describe("in_progress, completed or incomplete; tools of the service have others."),
};
const call = { ...item, call_id: z.string() };

export const ResponseAnnotation = named(
  "ResponseAnnotation",
  openAnswers({
    file_citation: lazy.looseObject(() => ({
      type: z.literal("file_citation"),
      index: count.describe("Where the citation stands in the text."),
      file_id: z.string(),
      filename: z.string(),
    })),
    url_citation: lazy.looseObject(() => ({
      type: z.literal("url_citation"),
      url: z.string(),
      title: z.string(),
      start_index: count,
      end_index: count,
    })),
    container_file_citation: lazy.looseObject(() => ({
      type: z.literal("container_file_citation"),
      container_id: z.string(),
      file_id: z.string(),
      filename: z.string(),
      start_index: count,
      end_index: count,
    })),
  }),
);

const OutputText = named(
  "ResponseOutputText",
  lazy.looseObject(() => ({
    type: z.literal("output_text"),
    text: z.string(),
    annotations: z.array(ResponseAnnotation).optional(),
    logprobs: z.array(TokenLogprob).optional(),
  })),
);
const Refusal = named(
  "ResponseRefusal",
  lazy.looseObject(() => ({ type: z.literal("refusal"), refusal: z.string() })),
);
const ReasoningText = named(
  "ResponseReasoningText",
  lazy.looseObject(() => ({ type: z.literal("reasoning_text"), text: z.string() })),
);
const SummaryText = named(
  "ResponseSummaryText",
  lazy.looseObject(() => ({ type: z.literal("summary_text"), text: z.string() })),
);

/** Part of an item, as its events have it. */
export const ResponsePart = named(
  "ResponsePart",
  openAnswers({ output_text: OutputText, refusal: Refusal, reasoning_text: ReasoningText, summary_text: SummaryText }),
);

const InputText = lazy.looseObject(() => ({ type: z.literal("input_text"), text: z.string() }));
const InputImage = lazy.looseObject(() => ({
  type: z.literal("input_image"),
  image_url: nullable.optional(),
  file_id: nullable.optional(),
  detail: nullable.optional(),
}));
const InputFile = lazy.looseObject(() => ({
  type: z.literal("input_file"),
  file_id: nullable.optional(),
  file_url: nullable.optional(),
  file_data: nullable.optional(),
  filename: nullable.optional(),
}));

const Content = named(
  "ResponseContent",
  openAnswers({
    output_text: OutputText,
    refusal: Refusal,
    input_text: InputText,
    input_image: InputImage,
    input_file: InputFile,
  }),
);

const Message = named(
  "ResponseMessage",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("message"),
    role: z.enum(["assistant", "user", "system", "developer"]),
    content: z.array(Content),
  })),
);

const Reasoning = named(
  "ResponseReasoning",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("reasoning"),
    summary: z.array(SummaryText),
    content: z.array(ReasoningText).nullable().optional(),
    encrypted_content: nullable.optional().describe("To send back with the next request."),
  })),
);

const FunctionCall = named(
  "ResponseFunctionCall",
  lazy.looseObject(() => ({
    ...call,
    type: z.literal("function_call"),
    name: z.string(),
    namespace: nullable.optional(),
    arguments: z.string().describe("JSON."),
  })),
);

const CustomToolCall = named(
  "ResponseCustomToolCall",
  lazy.looseObject(() => ({
    ...call,
    type: z.literal("custom_tool_call"),
    name: z.string(),
    namespace: nullable.optional(),
    input: z.string(),
  })),
);

const ShellCall = named(
  "ResponseShellCall",
  lazy.looseObject(() => ({
    ...call,
    type: z.literal("shell_call"),
    action: z.looseObject({
      commands: z.array(z.string()),
      timeout_ms: z.number().nullable().optional(),
      max_output_length: z.number().nullable().optional(),
    }),
    environment: z.looseObject({ type: z.string() }).nullable().optional(),
  })),
);

const LocalShellCall = named(
  "ResponseLocalShellCall",
  lazy.looseObject(() => ({
    ...call,
    type: z.literal("local_shell_call"),
    action: z.looseObject({
      type: z.literal("exec").optional(),
      command: z.array(z.string()),
      env: z.record(z.string(), z.string()).optional(),
      timeout_ms: z.number().nullable().optional(),
      user: nullable.optional(),
      working_directory: nullable.optional(),
    }),
  })),
);

const ApplyPatchCall = named(
  "ResponseApplyPatchCall",
  lazy.looseObject(() => ({
    ...call,
    type: z.literal("apply_patch_call"),
    operation: z.looseObject({
      type: z.string().describe("create_file, update_file or delete_file."),
      path: z.string(),
      diff: z.string().optional(),
    }),
  })),
);

const ComputerCall = named(
  "ResponseComputerCall",
  lazy.looseObject(() => ({
    ...call,
    type: z.literal("computer_call"),
    pending_safety_checks: z.array(fields).optional(),
    action: fields.nullable().optional().describe("Of the tool computer_use_preview."),
    actions: z.array(fields).nullable().optional().describe("Of the tool computer."),
  })),
);

const FileSearchCall = named(
  "ResponseFileSearchCall",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("file_search_call"),
    queries: z.array(z.string()),
    results: z
      .array(
        z.looseObject({
          file_id: z.string(),
          filename: z.string(),
          score: z.number(),
          attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
          text: z.string(),
        }),
      )
      .nullable()
      .optional()
      .describe("With `include: [file_search_call.results]`."),
  })),
);

const WebSearchCall = named(
  "ResponseWebSearchCall",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("web_search_call"),
    action: z.looseObject({
      type: z.string().optional(),
      query: z.string().optional(),
      queries: z.array(z.string()).optional(),
      sources: z
        .array(z.looseObject({ type: z.literal("url"), url: z.string() }))
        .optional()
        .describe("With `include: [web_search_call.action.sources]`."),
    }),
  })),
);

const CodeInterpreterCall = named(
  "ResponseCodeInterpreterCall",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("code_interpreter_call"),
    code: nullable,
    container_id: z.string(),
    outputs: z
      .array(
        z.union([
          z.looseObject({ type: z.literal("logs"), logs: z.string() }),
          z.looseObject({ type: z.literal("image"), url: z.string() }),
        ]),
      )
      .nullable()
      .optional()
      .describe("With `include: [code_interpreter_call.outputs]`."),
  })),
);

const ImageGenerationCall = named(
  "ResponseImageGenerationCall",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("image_generation_call"),
    result: nullable.optional().describe("The image in Base64; null before it is complete."),
    action: z.string().optional().describe("generate or edit."),
    revised_prompt: nullable.optional(),
    size: z.string().optional(),
    quality: z.string().optional(),
    background: z.string().optional(),
    output_format: z.string().optional(),
  })),
);

const McpListTools = named(
  "ResponseMcpListTools",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("mcp_list_tools"),
    server_label: z.string(),
    tools: z.array(
      z.looseObject({
        name: z.string(),
        description: nullable.optional(),
        input_schema: fields.optional(),
        annotations: fields.nullable().optional(),
      }),
    ),
    error: z.union([z.string(), fields]).nullable().optional(),
  })),
);

const mcp = { server_label: z.string(), name: z.string(), arguments: z.string() };

const McpCall = named(
  "ResponseMcpCall",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("mcp_call"),
    ...mcp,
    approval_request_id: nullable.optional(),
    output: nullable.optional(),
    error: z.union([z.string(), fields]).nullable().optional(),
  })),
);

const McpApprovalRequest = named(
  "ResponseMcpApprovalRequest",
  lazy.looseObject(() => ({ ...item, type: z.literal("mcp_approval_request"), ...mcp })),
);

const Compaction = named(
  "ResponseCompaction",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("compaction"),
    encrypted_content: z.string().describe("Stands for the conversation before it, in later requests."),
  })),
);

const OUTPUT = {
  message: Message,
  reasoning: Reasoning,
  function_call: FunctionCall,
  custom_tool_call: CustomToolCall,
  shell_call: ShellCall,
  local_shell_call: LocalShellCall,
  apply_patch_call: ApplyPatchCall,
  computer_call: ComputerCall,
  file_search_call: FileSearchCall,
  web_search_call: WebSearchCall,
  code_interpreter_call: CodeInterpreterCall,
  image_generation_call: ImageGenerationCall,
  mcp_list_tools: McpListTools,
  mcp_call: McpCall,
  mcp_approval_request: McpApprovalRequest,
  compaction: Compaction,
};

export const OutputItem = named("ResponseOutputItem", openAnswers(OUTPUT));

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
