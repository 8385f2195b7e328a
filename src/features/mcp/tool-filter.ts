/** Which tools of a server a request may use, and which of them wait for an approval. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { optional } from "../../wire/openai/optional.ts";
import type { McpTool } from "./mcp-offer.ts";

const ToolNames = listOf(z.string()).max(1000);
const ToolFilter = lazy.looseObject(() => ({ tool_names: optional(ToolNames), read_only: optional(z.boolean()) }));

export const AllowedTools = z.union([ToolNames, ToolFilter]);
export const RequireApproval = z.union([
  z.enum(["always", "never"]),
  lazy.looseObject(() => ({ always: optional(ToolFilter), never: optional(ToolFilter) })),
]);

type Selects = (tool: McpTool) => boolean;

/** Returns what selects the tools of `allowed_tools`; without it, all. */
export function toolsAllowedBy(allowed: z.output<typeof AllowedTools> | undefined): Selects {
  if (allowed === undefined) return () => true;
  return selects(Array.isArray(allowed) ? { tool_names: allowed, read_only: undefined } : allowed);
}

/** Returns what selects the tools whose calls wait. As at OpenAI, all do unless the request says otherwise. */
export function toolsToApprove(approval: z.output<typeof RequireApproval> = "always"): Selects {
  if (typeof approval === "string") return () => approval === "always";
  const { always, never } = approval;
  const [waits, runs] = [always && selects(always), never && selects(never)];
  return (tool) => {
    if (waits?.(tool)) return true;
    if (runs?.(tool)) return false;
    return runs !== undefined || waits === undefined;
  };
}

function selects({ tool_names: names, read_only: readOnly }: z.output<typeof ToolFilter>): Selects {
  const named = names && new Set(names);
  return ({ name, annotations }) =>
    named?.has(name) !== false && (readOnly === undefined || (annotations?.readOnlyHint === true) === readOnly);
}
