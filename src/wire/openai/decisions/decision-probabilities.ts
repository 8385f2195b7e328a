/** Reads the probabilities of an answer's options from the log probabilities of its first token. */

import type { TokenLogprob } from "../../../contracts/chat-model.ts";

/** Share of the distribution that options must have together: below it, the model was about to say something else. */
const MIN_MASS = 0.001;

/** Returns the options' probabilities, which add up to 1; undefined: the model answers none of them. */
export function probabilitiesOf(labels: readonly string[], first: TokenLogprob): number[] | undefined {
  const masses = labels.map(() => 0);
  for (const [token, logprob] of tokensOf(first)) {
    const index = optionOf(token, labels);
    if (index !== undefined) masses[index] = (masses[index] ?? 0) + Math.exp(logprob);
  }
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  // Also false for what is not a number.
  if (!(total >= MIN_MASS)) return undefined;
  return masses.map((mass) => mass / total);
}

/** The alternatives have the token itself where it is among the most likely ones. */
function tokensOf({ token, logprob, top }: TokenLogprob): Map<string, number> {
  return new Map([[token, logprob], ...top.map((each) => [each.token, each.logprob] as const)]);
}

/** Returns the option that a token begins, such as ` yes` or `B.`; undefined for none, or several. */
function optionOf(token: string, labels: readonly string[]): number | undefined {
  const letters = token.replaceAll(/[^\p{L}]/gu, "").toLowerCase();
  if (letters === "") return undefined;
  const matching = labels.flatMap((label, index) => (label.toLowerCase().startsWith(letters) ? [index] : []));
  return matching.length === 1 ? matching[0] : undefined;
}
