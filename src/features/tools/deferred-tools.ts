import type { Tool } from "../../contracts/chat-model.ts";
import type { SentTool } from "../../wire/responses/responses-tools.ts";
import type { QualifiedName } from "../../wire/responses/tool-search.ts";

/** A tool whose definition the model does not see until a search loads it. */
export interface DeferredTool extends QualifiedName {
  /** As the model sees it once it is loaded. */
  definition: Tool;
  namespaceDescription?: string | undefined;
  /** Definition as clients see it in the result of a search. */
  sent: SentTool;
}

/** The deferred tools of one response. */
export class DeferredTools {
  /** By the name that the model calls. */
  readonly #tools = new Map<string, DeferredTool>();
  readonly #loaded = new Set<string>();

  get tools(): DeferredTool[] {
    return [...this.#tools.values()];
  }

  add(tool: DeferredTool): void {
    this.#tools.set(tool.definition.name, tool);
  }

  /** Shows the model the tools of this name; without a namespace, those of all. */
  load({ name, namespace }: QualifiedName): void {
    for (const [functionName, tool] of this.#tools) {
      if (tool.name !== name || (namespace !== undefined && tool.namespace !== namespace)) continue;
      this.#loaded.add(functionName);
    }
  }

  /** Shows the model one tool, by the name that it calls. */
  loadFunction(functionName: string): void {
    this.#loaded.add(functionName);
  }

  hides(functionName: string): boolean {
    return this.#tools.has(functionName) && !this.#loaded.has(functionName);
  }
}
