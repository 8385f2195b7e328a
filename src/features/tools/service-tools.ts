/** The types of tools that this service runs, and their opening for one response. */

import type { Caller } from "../../contracts/caller.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { Annotation, ItemEvent } from "../../wire/responses/item-events.ts";
import type { ResponsesBody } from "../../wire/responses/responses-body.ts";
import { type ReadTools, serviceFunctionName, withDigest } from "../../wire/responses/responses-tools.ts";
import type { PendingCall, ServiceFunction, ServiceTool, ServiceToolType, ToolContext } from "./service-tool.ts";

/** All tools of one response that this service runs. */
export interface OpenTools {
  /** The tools of the request, with the functions of those that this service runs. */
  tools: ReadTools;
  functions: ReadonlyMap<string, ServiceFunction>;
  items: readonly ItemEvent[];
  calls: readonly PendingCall[];
  annotate(text: string): readonly Annotation[];
  close(): Promise<void>;
}

/** Maximum tools of a request that this service runs. */
const MAX_TOOLS = 32;

export class ServiceTools {
  readonly #types = new Map<string, ServiceToolType>();

  register(type: ServiceToolType): void {
    this.#types.set(type.type, type);
  }

  /** Returns the positions of the tools that this service runs; undefined without any. Throws a Fault. */
  servedBy({ tools = [] }: Pick<ResponsesBody, "tools">, caller: Caller): ReadonlySet<number> | undefined {
    if (this.#types.size === 0 || tools.length === 0) return undefined;
    const positions = new Set<number>();
    for (const [index, tool] of tools.entries()) {
      if (this.#types.get(tool.type)?.serves(tool, `tools[${index}]`, caller)) positions.add(index);
    }
    if (positions.size > MAX_TOOLS) {
      const message = `A request may have ${MAX_TOOLS} tools that this service runs, not ${positions.size}.`;
      throw invalidRequest(message, "tools", "array_above_max_length");
    }
    return positions.size === 0 ? undefined : positions;
  }

  /** Opens the tools at these positions; closes those that opened when one does not. Throws a Fault. */
  async open(
    body: Pick<ResponsesBody, "tools">,
    read: ReadTools,
    positions: ReadonlySet<number>,
    context: Omit<ToolContext, "path" | "functionName">,
  ): Promise<OpenTools> {
    const names = new Set(read.names.keys());
    const functionName = (name: string, namespace?: string) => {
      const preferred = serviceFunctionName(name, namespace);
      const unique = names.has(preferred) ? withDigest(preferred, `${namespace ?? ""}\0${name}`) : preferred;
      names.add(unique);
      return unique;
    };
    const sent = body.tools ?? [];
    const opening = [...positions].map(async (position) => {
      const tool = sent[position] as (typeof sent)[number];
      const type = this.#types.get(tool.type) as ServiceToolType;
      const opened = await type.open(tool, { ...context, path: `tools[${position}]`, functionName });
      return { type, opened };
    });
    const settled = await Promise.allSettled(opening);
    const opened = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const close = () => closeAll(opened.map((each) => each.opened));
    const failed = settled.find((each) => each.status === "rejected");
    if (failed !== undefined) {
      await close();
      throw failed.reason;
    }
    return merge(read, positions, opened, close);
  }
}

function merge(
  read: ReadTools,
  positions: ReadonlySet<number>,
  opened: readonly { type: ServiceToolType; opened: ServiceTool }[],
  close: () => Promise<void>,
): OpenTools {
  const tools = opened.map((each) => each.opened);
  const all = opened.flatMap(({ type, opened: { functions } }) =>
    functions.map((each) => ({ type: type.type, function: each })),
  );
  const functions = new Map(all.map((each) => [each.function.definition.name, each.function]));
  if (functions.size < all.length) throw new Fault("invalid-request", "Two tools have the same function.");
  const served = {
    positions,
    includes: opened.flatMap(({ type }) => type.includes ?? []),
    functions: new Map(
      all.map(({ type, function: { definition, name, serverLabel } }) => [
        definition.name,
        { type, name, serverLabel },
      ]),
    ),
  };
  return {
    tools: { ...read, tools: [...read.tools, ...all.map((each) => each.function.definition)], served },
    functions,
    items: tools.flatMap(({ items = [] }) => items),
    calls: tools.flatMap(({ calls = [] }) => calls),
    annotate: (text) => tools.flatMap((each) => each.annotate?.(text) ?? []),
    close,
  };
}

async function closeAll(tools: readonly ServiceTool[]): Promise<void> {
  await Promise.allSettled(tools.map((each) => each.close?.()));
}
