import { expect, test } from "vitest";
import { makeApiKey } from "./api-key.ts";
import { isPlaceholder } from "./placeholder-key.ts";

test.each([
  ...["YOUR_API_KEY", "sk-your-key", "your api key", "<PARLANCE_KEY>", "{{apiKey}}", "$PARLANCE_KEY", "%KEY%"],
  ...[
    "sk-...",
    "sk-…",
    "sk-xxxxxxxx",
    "EMPTY",
    "none",
    "null",
    "undefined",
    "dummy",
    "ollama",
    "lm-studio",
    "not-needed",
  ],
  ...["no-key-required", "sk-1234", "api_key", "test"],
])("takes %s for a placeholder", (key) => {
  expect(isPlaceholder(key)).toBe(true);
});

test("takes no real key for a placeholder", () => {
  for (let count = 0; count < 1000; count += 1) expect(isPlaceholder(makeApiKey("project").reveal())).toBe(false);
  const random = makeApiKey("project").reveal().slice("sk-my-".length);
  for (const start of ["sk-my-", "sk-My_"]) expect(isPlaceholder(`${start}${random}`)).toBe(false);
  for (const key of ["sk-proj-abc", "tester", "testing-key-of-ada", "sk-ant-api03-x"])
    expect(isPlaceholder(key)).toBe(false);
});
