/** The types of tools that this service runs, and their opening for one response. */

import { type Caller, projectOf } from "../../contracts/caller.ts";
import type { BodyMemory, Holding } from "../../http/body-memory.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { Annotation, ItemEvent } from "../../wire/responses/item-events.ts";
import type { ResponsesBody } from "../../wire/responses/responses-body.ts";
import { type ReadTools, serviceFunctionName, withDigest } from "../../wire/responses/responses-tools.ts";
import { DeferredTools } from "./deferred-tools.ts";
import { HostedToolAccess } from "./hosted-tool-policy.ts";
import type { PendingCall, ServiceFunction, ServiceTool, ServiceToolType, ToolContext } from "./service-tool.ts";

/** All tools of one response that this service runs. */
export interface OpenTools {
  /** The tools of the request, with the functions of those that this service runs. */
  tools: ReadTools;
  functions: ReadonlyMap<string, ServiceFunction>;
  items: readonly ItemEvent[];
  calls: readonly PendingCall[];
  deferred: DeferredTools;
  annotate(text: string): readonly Annotation[];
  close(): Promise<void>;
}

/** Whether a request defers a tool of a server. */
type Defers = (serverLabel: string, name: string) => boolean;

/** Maximum tools of a request that this service runs. */
const MAX_TOOLS = 32;

export class ServiceTools {
  /** Checks the tools of requests that this class does not see. */
  readonly access: HostedToolAccess;
  readonly #types = new Map<string, ServiceToolType>();
  readonly #memory: BodyMemory;

  /** `memory`: counts what open tools occupy with large bodies. */
  constructor(disabledFor: ConstructorParameters<typeof HostedToolAccess>[0], memory: BodyMemory) {
    this.access = new HostedToolAccess(disabledFor);
    this.#memory = memory;
  }

  /** Names of the types that are of use by themselves: a search needs deferred tools. */
  get types(): string[] {
    return [...this.#types.values()].filter((each) => each.isNativeElsewhere !== true).map(({ type }) => type);
  }

  register(type: ServiceToolType): void {
    this.#types.set(type.type, type);
  }

  /**
   * Returns the positions of the tools that this service runs; undefined without any. `isForwarded`: whether an upstream
   * with the caller's API answers. Throws a Fault, also for tools that run elsewhere when the project has turned them off.
   */
  servedBy(
    { tools = [] }: Pick<ResponsesBody, "tools">,
    caller: Caller,
    isForwarded: () => boolean = () => false,
  ): ReadonlySet<number> | undefined {
    this.access.checkAll(caller, tools);
    if (this.#types.size === 0 || tools.length === 0) return undefined;
    const positions = new Set<number>();
    for (const [index, tool] of tools.entries()) {
      if (this.#types.get(tool.type)?.serves(tool, `tools[${index}]`, caller)) positions.add(index);
    }
    if (positions.size > MAX_TOOLS) {
      const message = `A request may have ${MAX_TOOLS} tools that this service runs, not ${positions.size}.`;
      throw invalidRequest(message, "tools", "array_above_max_length");
    }
    const runsElsewhere = (position: number) =>
      this.#types.get(String(tools[position]?.type))?.isNativeElsewhere === true;
    if (positions.size === 0 || ([...positions].every(runsElsewhere) && isForwarded())) return undefined;
    return positions;
  }

  /** Opens the tools at these positions; closes those that opened where anything fails. Throws a Fault. */
  async open(
    body: Pick<ResponsesBody, "tools">,
    read: ReadTools,
    positions: ReadonlySet<number>,
    context: Omit<ToolContext, "path" | "functionName" | "deferred" | "hold">,
    defers: Defers = () => false,
  ): Promise<OpenTools> {
    const sent = body.tools ?? [];
    this.access.checkAll(context.caller, sent);
    const deferred = new DeferredTools();
    for (const tool of read.deferred ?? []) {
      deferred.add(tool);
      if (tool.isLoaded) deferred.loadFunction(tool.definition.name);
    }
    const functionName = uniqueNames(read.names.keys());
    const holdings: Holding[] = [];
    const opening = [...positions].map(async (position) => {
      const tool = sent[position] as (typeof sent)[number];
      const type = this.#types.get(tool.type) as ServiceToolType;
      const holding = this.#memory.open(projectOf(context.caller));
      holdings.push(holding);
      let held = 0;
      const hold = (bytes: number) => {
        held += bytes;
        holding.hold(held);
      };
      const opened = await type.open(tool, { ...context, path: `tools[${position}]`, functionName, deferred, hold });
      return { type, opened };
    });
    const settled = await Promise.allSettled(opening);
    const opened = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const close = async () => {
      for (const each of holdings) each.release();
      await Promise.allSettled(opened.map(async (each) => each.opened.close?.()));
    };
    return closedOnFailure(close, () => {
      const failed = settled.find((each) => each.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      for (const each of opened.flatMap(({ opened: { functions } }) => functions)) defer(each, defers, deferred);
      return { ...merge(read, positions, opened), deferred, close };
    });
  }
}

/** Returns what `use` makes of tools that are open, and closes them when it throws: nobody else can. */
export async function closedOnFailure<Result>(close: OpenTools["close"], use: () => Result): Promise<Result> {
  await using opened = new AsyncDisposableStack();
  opened.defer(close);
  const result = use();
  opened.move();
  return result;
}

/** Returns `ToolContext.functionName`. `taken`: names that the model calls functions of the caller by. */
function uniqueNames(taken: Iterable<string>): ToolContext["functionName"] {
  const names = new Set(taken);
  /** Numbers of further functions with an equal name. */
  const counts = new Map<string, number>();
  return (name, namespace) => {
    const preferred = serviceFunctionName(name, namespace);
    const original = `${namespace ?? ""}\0${name}`;
    let unique = preferred;
    let count = counts.get(original) ?? 0;
    for (; names.has(unique); count += 1) {
      unique = withDigest(preferred, count === 0 ? original : `${original}\0${count}`);
    }
    counts.set(original, count);
    names.add(unique);
    return unique;
  };
}

function defer({ serverLabel, name, definition }: ServiceFunction, defers: Defers, deferred: DeferredTools): void {
  if (serverLabel === undefined || !defers(serverLabel, name)) return;
  const { description = null, parameters = null } = definition;
  const sent = { type: "function", name, description, parameters, strict: null, defer_loading: true };
  deferred.add({ name, namespace: serverLabel, definition, sent });
}

function merge(
  read: ReadTools,
  positions: ReadonlySet<number>,
  opened: readonly { type: ServiceToolType; opened: ServiceTool }[],
): Omit<OpenTools, "deferred" | "close"> {
  const tools = opened.map((each) => each.opened);
  const all = opened.flatMap(({ type, opened: { functions } }) =>
    functions.map((each) => ({ type: type.type, function: each })),
  );
  const functions = new Map(all.map((each) => [each.function.definition.name, each.function]));
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
  };
}
