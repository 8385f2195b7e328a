/** Compiles the schemas of chat requests in worker threads, before a request takes a slot. */

import { SchemaPool, type SchemaRequest, TimeBudget } from "@parlance-inference/json-schema-grammar/pool";
import type { AnswerFormat, ChatRequest, CompiledGrammar, Tool } from "../../contracts/chat-model.ts";
import { withSchemaFaults } from "./schema-fault.ts";

/** Time limit for all schema work of one request: its grammars and validators, and validating all answers to it. */
const BUDGET_MS = 10_000;

/** Shared by the service. Its threads start with the first schema and end when idle. */
export const schemaPool = new SchemaPool();

/** Budgets by the signal that aborts the request, which all attempts at all deployments share. */
const budgets = new WeakMap<AbortSignal, TimeBudget>();

/** `signal`: the one that aborts the request, which identifies its time budget. */
export function toSchemaRequest({ project = "" }: Pick<ChatRequest, "project">, signal: AbortSignal): SchemaRequest {
  const budget = budgets.get(signal) ?? new TimeBudget(BUDGET_MS);
  budgets.set(signal, budget);
  return { tenant: project, budget, signal };
}

/**
 * Resolves with the request and the grammars of its schemas; undefined without schemas. Throws a Fault that names the
 * keyword that cannot be enforced.
 */
export function withGrammars(request: ChatRequest, signal: AbortSignal): Promise<ChatRequest> | undefined {
  const { format } = request;
  const used = toolsInUse(request);
  if (!isUncompiled(format) && !used.some(isUncompiledTool)) return undefined;
  return withSchemaFaults(async () => {
    const schemas = toSchemaRequest(request, signal);
    const compiledFormat = await compileFormat(format, schemas);
    const compiled = new Map<Tool, Tool>();
    for (const [index, tool] of used.entries()) compiled.set(tool, await compileTool(tool, index, schemas));
    const tools = request.tools.map((tool) => compiled.get(tool) ?? tool);
    return { ...request, format: compiledFormat, tools };
  });
}

const isUncompiled = (format: AnswerFormat) => format.type === "json-schema" && format.grammar === undefined;
const isUncompiledTool = ({ parameters, grammar }: Tool) => parameters !== undefined && grammar === undefined;

function toolsInUse({ tools, toolChoice }: ChatRequest): readonly Tool[] {
  if (toolChoice === "none") return [];
  return typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
}

async function compileFormat(format: AnswerFormat, schemas: SchemaRequest): Promise<AnswerFormat> {
  if (format.type !== "json-schema") return format;
  const { schema, param } = format;
  return { ...format, grammar: await compileGrammar(schema, param, schemas, { ruleName: "answer", values: "any" }) };
}

async function compileTool(tool: Tool, index: number, schemas: SchemaRequest): Promise<Tool> {
  if (tool.parameters === undefined) return tool;
  const options = { ruleName: `tool-${index}`, values: "objects" } as const;
  return { ...tool, grammar: await compileGrammar(tool.parameters, tool.param, schemas, options) };
}

async function compileGrammar(
  schema: unknown,
  param: string,
  schemas: SchemaRequest,
  options: { ruleName: string; values: "any" | "objects" },
): Promise<CompiledGrammar> {
  const { rules, unenforced } = await schemaPool.compileRules(schema, param, schemas, options);
  // Also refuses a schema that could not be validated, before anything is generated.
  if (unenforced.length > 0) await schemaPool.compileValidator(schema, param, schemas);
  return { ruleName: options.ruleName, rules, unenforced };
}
