/** The circuits of one deployment: under a wildcard, one per upstream model, which fail independently. */

import { Circuit, type CircuitPosition, type CircuitSettings, type Probe } from "./circuit.ts";

/** Callers choose the names. A circuit takes about 1 KB. */
const MAX_MODELS = 1000;

export class Circuits {
  /** Least recently used first. An LRUCache would allocate 6 KB for a maximum that few deployments reach. */
  readonly #circuits = new Map<string, Circuit>();
  readonly #settings: CircuitSettings;
  readonly #probe: Probe;
  #isStopped = false;

  constructor(settings: CircuitSettings, probe: Probe) {
    this.#settings = settings;
    this.#probe = probe;
  }

  /** Returns the circuit of `id`, the catalog ID that is answered. */
  of(id: string): Circuit {
    const existing = this.#circuits.get(id);
    if (existing !== undefined && this.#circuits.size === 1) return existing;
    const circuit = existing ?? new Circuit(this.#settings, this.#probe);
    if (existing === undefined && this.#isStopped) circuit.stop();
    this.#circuits.delete(id);
    this.#circuits.set(id, circuit);
    if (this.#circuits.size > MAX_MODELS) this.#evictOldest();
    return circuit;
  }

  #evictOldest(): void {
    const [oldest] = this.#circuits;
    if (oldest === undefined) return;
    const [id, circuit] = oldest;
    circuit.stop();
    this.#circuits.delete(id);
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
