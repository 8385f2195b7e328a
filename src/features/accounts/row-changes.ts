import type { KyselyPlugin, PluginTransformQueryArgs, PluginTransformResultArgs } from "kysely";

/** Notes whether the queries of an executor, which has this as a plugin, change rows. */
export class RowChanges implements KyselyPlugin {
  readonly #reads = new WeakSet<PluginTransformQueryArgs["queryId"]>();
  #isAny = false;

  get isAny(): boolean {
    return this.#isAny;
  }

  transformQuery({ queryId, node }: PluginTransformQueryArgs): PluginTransformQueryArgs["node"] {
    if (node.kind === "SelectQueryNode") this.#reads.add(queryId);
    return node;
  }

  async transformResult({ queryId, result }: PluginTransformResultArgs): Promise<PluginTransformResultArgs["result"]> {
    // A query with `returning` has rows, and with SQLite no count of them.
    const affected = result.numAffectedRows ?? BigInt(result.rows.length);
    if (affected > 0n && !this.#reads.has(queryId)) this.#isAny = true;
    return result;
  }
}
