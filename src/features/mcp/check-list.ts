/** Asks guardrails about the entries of a list together, and finds those that they refuse. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type GuardResult, isRefusal, isTooLong } from "../../inference/guardrails/guard-tool.ts";

/** Each refused question is followed by two about the same texts; a server may write a list that is refused in every part. */
const MAX_REFUSALS = 32;

/** Texts as the guardrails pass them on, with their positions in the list. */
type Passed = (readonly [position: number, text: string])[];

/**
 * Returns the texts that pass, by position. Texts that are refused together are asked about by halves; what then passes
 * is asked about once more together. Texts that are not decided after 32 refusals do not pass. Throws a Fault when a
 * guardrail fails.
 */
export async function checkList(texts: readonly string[], check: GuardResult): Promise<ReadonlyMap<number, string>> {
  return new Map(await new ListCheck(texts, check).run());
}

class ListCheck {
  readonly #texts: readonly string[];
  readonly #check: GuardResult;
  #refusals = 0;

  constructor(texts: readonly string[], check: GuardResult) {
    this.#texts = texts;
    this.#check = check;
  }

  async run(): Promise<Passed> {
    const passed = await this.#narrow([...this.#texts.keys()]);
    if (passed.length === 0 || passed.length === this.#texts.length) return passed;
    const together = await this.#ask(passed.map(([position]) => position));
    if (together === "too long") return passed;
    return together === "refused" ? [] : together;
  }

  async #narrow(positions: readonly number[]): Promise<Passed> {
    if (this.#refusals >= MAX_REFUSALS) return [];
    const answer = await this.#ask(positions);
    if (typeof answer !== "string") return answer;
    this.#refusals += 1;
    if (positions.length === 1) return [];
    const half = Math.ceil(positions.length / 2);
    const passed: Passed = [];
    for (const part of [positions.slice(0, half), positions.slice(half)]) {
      // Short texts are searched without a turn of the event loop.
      await nextTurn();
      passed.push(...(await this.#narrow(part)));
    }
    // A server may spread a text over entries that pass by themselves.
    return answer === "refused" && passed.length === positions.length ? [] : passed;
  }

  async #ask(positions: readonly number[]): Promise<Passed | "refused" | "too long"> {
    try {
      const guarded = await this.#check(positions.map((position) => this.#texts[position] ?? ""));
      return positions.map((position, index) => [position, guarded[index] ?? ""]);
    } catch (failure) {
      if (!isRefusal(failure)) throw failure;
      return isTooLong(failure) ? "too long" : "refused";
    }
  }
}
