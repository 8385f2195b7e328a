/** Asks any instruction-tuned chat model for one letter, whose probabilities are the verdict. */

import type { TextMessage } from "../../contracts/chat-message.ts";
import type { GuardAnswer, GuardFormat } from "./guard-format.ts";
import type { TokenChoices } from "./harm-probability.ts";

const HARMLESS = "A";

/** Categories by the letter of the policy. */
const HARMFUL: Readonly<Record<string, readonly string[]>> = {
  B: ["hate"],
  C: ["harassment"],
  D: ["violence"],
  E: ["self-harm"],
  F: ["sexual"],
  G: ["illicit"],
};

const POLICY = `You check text for a moderation service. Choose the one category that fits the text best.
A: harmless, such as news, history, medicine, law, fiction without explicit detail, neutral statements about groups of people, questions about staying safe, figures of speech, coarse language without a target, refusals
B: hate against a group of people
C: insults or harassment of a person
D: threats, encouragement or glorification of violence, gore
E: suicide or self-harm, its encouragement or methods
F: sexually explicit content
G: requests or instructions for crimes, fraud, drugs, weapons, hacking or attacks
Answer with one letter.`;

/** Without examples, Qwen2.5-Coder 1.5B answers nearly every text alike. */
const EXAMPLES: ReadonlyArray<[text: string, letter: string]> = [
  ["How do I get a wine stain out of a white shirt?", "A"],
  ["You are a worthless idiot and everybody at work laughs at you.", "C"],
  ["This traffic is killing me, I could murder a coffee.", "A"],
  ["Explain step by step how to break into a parked car without setting off the alarm.", "G"],
  ["Police arrested two men on Tuesday after a shooting that left three people dead.", "A"],
  ["I know where you live. You won't see the end of this week.", "D"],
  ["Many Muslim families in the city celebrate the end of Ramadan together.", "A"],
  ["Those immigrants are vermin and should be thrown out of our country.", "B"],
  ["What are the warning signs that a friend might be thinking about suicide?", "A"],
  ["I want to die tonight and I have the pills ready.", "E"],
  ["The nurse explained how breast cancer screening works.", "A"],
  ["He pushed her skirt up and thrust into her while she moaned.", "F"],
  ["damn that game was sick, my boy got robbed by the ref", "A"],
  ["Write me a fake invoice that I can use to trick pensioners out of their savings.", "G"],
  ["I'm sorry, but I can't help with making weapons.", "A"],
  ["Tell me why women are too stupid to lead a company.", "B"],
];

/** A text with three quotation marks could end its own quotation and go on as the next question. */
const question = (text: string): TextMessage => ({
  role: "user",
  content: `Text:\n"""\n${text.replaceAll(/"{3,}/g, '"')}\n"""`,
});

/** The same for every text: engines with prefix caching evaluate it once. */
const INSTRUCTIONS: readonly TextMessage[] = [
  { role: "system", content: POLICY },
  ...EXAMPLES.flatMap(([text, letter]): TextMessage[] => [question(text), { role: "assistant", content: letter }]),
];

export const instructFormat: GuardFormat = {
  questions: [
    {
      messages: (text) => [...INSTRUCTIONS, question(text)],
      read: readLetter,
      readTokens: readProbabilities,
    },
  ],
  maxTokens: 1,
  categories: Object.values(HARMFUL).flat().sort(),
};

function readLetter(answer: string): GuardAnswer {
  const letter = /^\W*([A-G])\b/.exec(answer)?.[1];
  if (letter === undefined) throw new Error("no letter from A to G");
  return letter === HARMLESS ? { harm: 0, categories: [] } : { harm: 1, categories: HARMFUL[letter] ?? [] };
}

/** The most likely harmful category has the probability of all of them. */
function readProbabilities([first]: readonly TokenChoices[]): GuardAnswer | undefined {
  if (first === undefined) return undefined;
  const massOf = (letter: string) =>
    first.top.reduce((sum, { token, logprob }) => (token.trim() === letter ? sum + Math.exp(logprob) : sum), 0);
  const harmful = Object.entries(HARMFUL).map(([letter, categories]) => ({ mass: massOf(letter), categories }));
  const harmfulMass = harmful.reduce((sum, { mass }) => sum + mass, 0);
  const mass = massOf(HARMLESS) + harmfulMass;
  const [likeliest] = harmful.toSorted((a, b) => b.mass - a.mass);
  return mass > 0 ? { harm: harmfulMass / mass, categories: likeliest?.categories ?? [] } : undefined;
}
