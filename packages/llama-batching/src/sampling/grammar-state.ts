import type { LlamaGrammarEvaluationState, Token } from "node-llama-cpp";
import type { Bindings } from "../evaluation/native-bindings.ts";

/** Position of an output in its grammar. */
export class GrammarState {
  /** Approximate native memory, freed with the next garbage collection. */
  readonly bytes: number;
  readonly #state: LlamaGrammarEvaluationState;
  readonly #bindings: Bindings;

  constructor(state: LlamaGrammarEvaluationState, bindings: Bindings, bytes: number) {
    this.#state = state;
    this.#bindings = bindings;
    this.bytes = bytes;
  }

  get native(): unknown {
    return (this.#state as unknown as { _state: unknown })._state;
  }

  clone(): GrammarState {
    return new GrammarState(this.#state.clone(), this.#bindings, this.bytes);
  }

  allows(token: Token): boolean {
    return this.#bindings.AddonSampler.canBeNextTokenForGrammarEvaluationState(this.native, token);
  }

  /** Advances by a token that no constrained sampler returned. Throws when the grammar does not allow it. */
  accept(token: Token): void {
    this.#bindings.AddonSampler.acceptGrammarEvaluationStateToken(this.native, token);
  }
}
