import { expect, test } from "vitest";
import { NO_PARAMETERS } from "./conversation.ts";
import { currentVersion, openPrompt, toPromptContent } from "./prompt-settings.ts";

const TOOL = { type: "function", function: { name: "look_up", parameters: { type: "object" } } };

test("stores the settings of a chat, and opens a chat with the same ones", () => {
  const parameters = {
    ...NO_PARAMETERS,
    ...{ system: "Be brief.", temperature: 0.2, topP: 0.9, maxTokens: 50, reasoningEffort: "low" },
    ...{ schema: '{"type": "object"}', tools: JSON.stringify([TOOL]) },
  };
  const content = toPromptContent({ models: ["owl"], parameters });
  expect(content).toEqual({
    messages: [{ role: "system", content: "Be brief." }],
    ...{ model: "owl", temperature: 0.2, top_p: 0.9, max_output_tokens: 50, reasoning_effort: "low" },
    format: { type: "json_schema", name: "answer", schema: { type: "object" } },
    tools: [{ type: "function", name: "look_up", parameters: { type: "object" } }],
  });
  const { conversation, draft } = openPrompt({ ...content, variables: [] } as never, ["other"]);
  expect(conversation.models).toEqual(["owl"]);
  expect(draft).toBe("");
  expect(toPromptContent(conversation)).toEqual(content);
});

test("keeps the models of the chat, and offers the question of a prompt", () => {
  const messages = [
    { role: "developer" as const, content: "Translate." },
    { role: "user" as const, content: "Into {{language}}" },
  ];
  const { conversation, draft } = openPrompt({ messages, variables: [] }, ["owl", "parrot"]);
  expect(conversation).toMatchObject({ models: ["owl", "parrot"], parameters: { system: "Translate." }, turns: [] });
  expect(draft).toBe("Into {{language}}");
});

test("prefers the version with the label production", () => {
  const version = (number: number, labels: string[] = []) => ({ version: number, labels }) as never;
  expect(currentVersion([version(3), version(2, ["production"])])).toMatchObject({ version: 2 });
  expect(currentVersion([version(3), version(2)])).toMatchObject({ version: 3 });
  expect(currentVersion([])).toBeUndefined();
});
