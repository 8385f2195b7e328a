/** The circuits of one deployment: under a wildcard, one per upstream model, which fail independently. */

import { LRUCache } from "lru-cache";
import { Circuit, type CircuitPosition, type CircuitSettings, type Probe } from "./circuit.ts";

/** Callers choose the names. A circuit takes about 1 KB. */
const MAX_MODELS = 1000;

export class Circuits {
  readonly #circuits = new LRUCache<string, Circuit>({ max: MAX_MODELS, dispose: (circuit) => circuit.stop() });
  readonly #settings: CircuitSettings;
  readonly #probe: Probe;
  #isStopped = false;

  constructor(settings: CircuitSettings, probe: Probe) {
    this.#settings = settings;
    this.#probe = probe;
  }

  /** Returns the circuit of `id`, the catalog ID that is answered. */
  of(id: string): Circuit {
    const known = this.#circuits.get(id);
    if (known !== undefined) return known;
    const circuit = new Circuit(this.#settings, this.#probe);
    if (this.#isStopped) circuit.stop();
    this.#circuits.set(id, circuit);
    return circuit;
  }

  /** State of the deployment: open only if the circuits of all its models are open. */
  get state(): CircuitPosition {
    const states = new Set(Array.from(this.#circuits.values(), ({ state }) => state));
    if (states.size === 0 || states.has("closed")) return "closed";
    return states.has("half-open") ? "half-open" : "open";
  }

  /** Stops all probes. */
  stop(): void {
    this.#isStopped = true;
    for (const circuit of this.#circuits.values()) circuit.stop();
  }
}
