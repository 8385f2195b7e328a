/** Items of responses and conversations as clients get them. What an upstream or a client wrote may have further fields. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { openAnswers } from "../openai/open-variants.ts";
import { named } from "../openapi/named.ts";
import { Content, ReasoningText, SummaryText } from "./content-answers.ts";

const nullable = z.string().nullable();
const fields = z.record(z.string(), z.unknown());

export const item = {
  id: z.string(),
  status: nullable.optional().describe("in_progress, completed or incomplete; tools of the service have others."),
};
export const call = { ...item, call_id: z.string() };

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

const search = { ...item, call_id: nullable, execution: z.enum(["server", "client"]) };

const ToolSearchCall = named(
  "ResponseToolSearchCall",
  lazy.looseObject(() => ({ ...search, type: z.literal("tool_search_call"), arguments: fields })),
);

const ToolSearchOutput = named(
  "ResponseToolSearchOutput",
  lazy.looseObject(() => ({
    ...search,
    type: z.literal("tool_search_output"),
    tools: z.array(fields).describe("Tools that the search loaded, those of namespaces and servers in namespaces."),
  })),
);

const Compaction = named(
  "ResponseCompaction",
  lazy.looseObject(() => ({
    ...item,
    type: z.literal("compaction"),
    encrypted_content: z.string().describe("Stands for the conversation before it, in later requests."),
  })),
);

export const OUTPUT = {
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
  tool_search_call: ToolSearchCall,
  tool_search_output: ToolSearchOutput,
  compaction: Compaction,
};

export const OutputItem = named("ResponseOutputItem", openAnswers(OUTPUT));
