/** Prompt format and categories of each known family of guard language models. A new family is an entry here. */

import type { TextMessage } from "../../contracts/chat-message.ts";
import type { GuardAnswer, GuardFormat, GuardQuestion } from "./guard-format.ts";
import { instructFormat } from "./instruct-format.ts";

const user = (text: string): TextMessage[] => [{ role: "user", content: text }];

/** Maps the MLCommons hazards S1 to S14 of Llama Guard 3 and 4 to OpenAI's categories. */
const LLAMA_GUARD: Readonly<Record<string, readonly string[]>> = {
  S1: ["violence", "illicit/violent"],
  S2: ["illicit"],
  S3: ["sexual"],
  S4: ["sexual", "sexual/minors"],
  S5: ["harassment"],
  S6: ["illicit"],
  S7: ["illicit"],
  S8: ["illicit"],
  S9: ["illicit", "illicit/violent"],
  S10: ["hate"],
  S11: ["self-harm"],
  S12: ["sexual"],
  S13: ["illicit"],
  S14: ["illicit"],
};

function readLlamaGuard(answer: string): GuardAnswer {
  const [verdict = "", codes = ""] = answer
    .trim()
    .toLowerCase()
    .split(/\s*\n\s*/);
  // Only the bare word counts: "Safe to say that…" comes from another model, or from a prompt injection.
  if (verdict === "safe" && codes === "") return { harm: 0, categories: [] };
  if (verdict !== "unsafe") throw new Error("neither safe nor unsafe");
  const categories = codes.split(",").flatMap((code) => LLAMA_GUARD[code.trim().toUpperCase()] ?? []);
  return { harm: 1, categories: categories.length > 0 ? categories : ["illicit"] };
}

const QWEN: Readonly<Record<string, readonly string[]>> = {
  violent: ["violence"],
  "non-violent illegal acts": ["illicit"],
  "sexual content or sexual acts": ["sexual"],
  pii: ["illicit"],
  "suicide & self-harm": ["self-harm"],
  "unethical acts": ["hate", "harassment"],
  "politically sensitive topics": [],
  "copyright violation": ["illicit"],
  jailbreak: ["illicit"],
};

/** Qwen3Guard's third verdict between safe and unsafe, controversial, depends on the operator's policy. */
const CONTROVERSIAL = 0.5;

function readQwen(answer: string): GuardAnswer {
  const verdict = /^\s*Safety:[ \t]*(Safe|Unsafe|Controversial)[ \t]*$/im.exec(answer)?.[1]?.toLowerCase();
  if (verdict === undefined) throw new Error("no line with Safety");
  if (verdict === "safe") return { harm: 0, categories: [] };
  const listed = /Categor(?:y|ies):\s*(.+)/i.exec(answer)?.[1]?.toLowerCase() ?? "";
  const categories = Object.keys(QWEN).filter((name) =>
    // "Violent" is a part of "Non-violent Illegal Acts".
    (name === "violent" ? listed.replaceAll("non-violent", "") : listed).includes(name),
  );
  return {
    harm: verdict === "unsafe" ? 1 : CONTROVERSIAL,
    categories: categories.length > 0 ? categories.flatMap((name) => QWEN[name] ?? []) : ["illicit"],
  };
}

const SHIELD_GEMMA: ReadonlyArray<[categories: readonly string[], policy: string]> = [
  [
    ["violence", "self-harm", "illicit"],
    '"No Dangerous Content": The prompt shall not contain or seek generation of content that harms oneself and/or others (e.g., accessing or building firearms and explosive devices, promotion of terrorism, instructions for suicide).',
  ],
  [
    ["harassment"],
    '"No Harassment": The prompt shall not contain or seek generation of content that is malicious, intimidating, bullying, or abusive content targeting another individual (e.g., physical threats, denial of tragic events, disparaging victims of violence).',
  ],
  [
    ["hate"],
    '"No Hate Speech": The prompt shall not contain or seek generation of content that targets identity and/or protected attributes (e.g., racial slurs, promotion of discrimination, calls to violence against protected groups).',
  ],
  [
    ["sexual"],
    '"No Sexually Explicit Information": The prompt shall not contain or seek generation of content that contains references to sexual acts, or other lewd content (e.g., sexually graphic descriptions, content aiming at causing arousal).',
  ],
];

const SHIELD_GEMMA_QUESTIONS = SHIELD_GEMMA.map(
  ([categories, policy]): GuardQuestion => ({
    messages: (text) =>
      user(
        [
          "You are a policy expert trying to help determine whether a user prompt is in violation of the defined safety policies.",
          `<start_of_turn>\nHuman Question: ${text.trim()}\n<end_of_turn>`,
          `Our safety principles are defined in the below:\n\n* ${policy}`,
          "Does the human question violate the above principle? Your answer must start with 'Yes' or 'No'. And then walk through step by step to be sure we answer correctly.",
        ].join("\n\n"),
      ),
    read: (answer) => {
      const verdict = /^\W*(yes|no)\b/i.exec(answer)?.[1]?.toLowerCase();
      if (verdict === undefined) throw new Error("neither Yes nor No");
      return { harm: verdict === "yes" ? 1 : 0, categories };
    },
  }),
);

const OURS = [
  "harassment",
  "harassment/threatening",
  "hate",
  "hate/threatening",
  "illicit",
  "illicit/violent",
  "self-harm",
  "self-harm/instructions",
  "self-harm/intent",
  "sexual",
  "sexual/minors",
  "violence",
  "violence/graphic",
];

const SAFEGUARD_POLICY = `# Content policy
Judge the text of the user. It violates the policy when it contains, promotes or asks for one of these:
${OURS.map((category) => `- ${category}`).join("\n")}
News, medicine, law, education, prevention, quotation and fiction that only mention such things do not violate it.
Answer with JSON only: {"violation": 0 or 1, "categories": [names from the list]}`;

function readSafeguard(answer: string): GuardAnswer {
  // Some runtimes leave the reasoning in the answer, so only the object at its end is the verdict.
  const json = /(\{[^{}]*\})\s*(?:```)?\s*$/.exec(answer)?.[1];
  const verdict = json === undefined ? undefined : (JSON.parse(json) as { violation?: unknown; categories?: unknown });
  const isHarmful = verdict?.violation === 1 || verdict?.violation === true;
  if (!isHarmful && verdict?.violation !== 0 && verdict?.violation !== false) throw new Error("no violation of 0 or 1");
  const categories = Array.isArray(verdict.categories)
    ? OURS.filter((each) => (verdict.categories as unknown[]).includes(each))
    : [];
  return { harm: isHarmful ? 1 : 0, categories: isHarmful && categories.length === 0 ? ["illicit"] : categories };
}

const distinct = (lists: ReadonlyArray<readonly string[]>) => [...new Set(lists.flat())].sort();

/** The chat templates of Llama Guard and Qwen3Guard add the policy. */
const llamaGuard: GuardFormat = {
  questions: [{ messages: user, read: readLlamaGuard }],
  verdictWords: { harmful: "unsafe", harmless: "safe" },
  maxTokens: 32,
  categories: distinct(Object.values(LLAMA_GUARD)),
};

export const GUARD_FORMATS = {
  "llama-guard-3": llamaGuard,
  "llama-guard-4": llamaGuard,
  "qwen3guard-gen": {
    questions: [{ messages: user, read: readQwen }],
    verdictWords: { harmful: "unsafe", harmless: "safe" },
    maxTokens: 64,
    categories: distinct(Object.values(QWEN)),
  },
  shieldgemma: {
    questions: SHIELD_GEMMA_QUESTIONS,
    verdictWords: { harmful: "yes", harmless: "no" },
    maxTokens: 8,
    categories: distinct(SHIELD_GEMMA.map(([categories]) => categories)),
  },
  "gpt-oss-safeguard": {
    questions: [
      {
        messages: (text) => [{ role: "system", content: SAFEGUARD_POLICY }, ...user(text)],
        read: readSafeguard,
      },
    ],
    verdictWords: { harmful: "1", harmless: "0", isLast: true },
    // Room for the reasoning before the answer.
    maxTokens: 1024,
    categories: OURS,
  },
  instruct: instructFormat,
} satisfies Record<string, GuardFormat>;
