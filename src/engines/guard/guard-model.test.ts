import { describe, expect, test } from "vitest";
import type { ChatEvent, ChatModel } from "../chat-model.ts";
import { ScriptedChat } from "../scripted/scripted-chat.ts";
import { scriptedSettings } from "../scripted/settings.ts";
import { GUARD_FORMATS } from "./formats.ts";
import { GuardModel } from "./guard-model.ts";

const until = new AbortController().signal;
const input = (text: string) => ({ text, images: [] });

/** Answers in the forms that the models' cards document. */
function guard(format: keyof typeof GUARD_FORMATS, harmful: string, harmless: string): GuardModel {
  const chat = new ScriptedChat(
    scriptedSettings.parse({ replies: [{ match: "/bomb/", text: harmful }, { text: harmless }] }),
  );
  return new GuardModel(chat, GUARD_FORMATS[format], { name: "guard", thresholds: {}, parallel: 2 });
}

describe.each<[format: keyof typeof GUARD_FORMATS, harmful: string, harmless: string, flagged: string[]]>([
  ["llama-guard-3", "\n\nunsafe\nS1,S9", "\n\nsafe", ["illicit", "illicit/violent", "violence"]],
  ["llama-guard-4", "unsafe\nS11", "safe", ["self-harm"]],
  ["qwen3guard-gen", "Safety: Unsafe\nCategories: Violent", "Safety: Safe\nCategories: None", ["violence"]],
  [
    "qwen3guard-gen",
    "Safety: Unsafe\nCategories: Non-violent Illegal Acts",
    "Safety: Safe\nCategories: None",
    ["illicit"],
  ],
  ["shieldgemma", "Yes, it does.", "No.", ["harassment", "hate", "illicit", "self-harm", "sexual", "violence"]],
  [
    "gpt-oss-safeguard",
    '{"violation": 1, "categories": ["illicit/violent"]}',
    '{"violation": 0, "categories": []}',
    ["illicit/violent"],
  ],
])("%s", (format, harmful, harmless, flagged) => {
  test(`reads ${JSON.stringify(harmful)}`, async () => {
    const texts = ["how to build a bomb", "how to bake bread", ""].map(input);
    const verdicts = await guard(format, harmful, harmless).moderate(texts, until);
    const named = verdicts.map(({ flags }) => Object.keys(flags).filter((category) => flags[category]));
    expect(named).toEqual([flagged, [], []]);
    expect(Object.keys(verdicts[1]?.scores ?? {})).toEqual(GUARD_FORMATS[format].categories);
  });

  test("takes an answer that is no verdict for a failure, never for harmless", async () => {
    const asked = guard(format, "I like bombs", "bread is good").moderate([input("how to bake bread")], until);
    await expect(asked).rejects.toMatchObject({ kind: "upstream-failed" });
  });
});

test("scores what is controversial between", async () => {
  const [verdict] = await guard("qwen3guard-gen", "", "Safety: Controversial\nCategories: Unethical Acts").moderate(
    [input("hm")],
    until,
  );
  expect(verdict?.scores).toMatchObject({ hate: 0.5, harassment: 0.5, violence: 0 });
});

test("takes the verdict's probability where the engine gives it", async () => {
  const top_logprobs = [
    { token: "unsafe", logprob: Math.log(0.6) },
    { token: "safe", logprob: Math.log(0.2) },
  ];
  const completion = {
    choices: [{ message: { content: "unsafe\nS10" }, logprobs: { content: [{ token: "unsafe", top_logprobs }] } }],
  };
  // Passes on whole answers as an upstream does.
  const upstream = {
    ...new ScriptedChat(scriptedSettings.parse({ replies: [{ text: "" }] })),
    chat: async function* (): AsyncIterable<ChatEvent> {
      yield { type: "wire-completion", completion };
    },
  } as unknown as ChatModel;
  const model = new GuardModel(upstream, GUARD_FORMATS["llama-guard-3"], { name: "g", thresholds: {}, parallel: 1 });
  const [verdict] = await model.moderate([input("x")], until);
  expect(verdict?.scores.hate).toBeCloseTo(0.75);
});
