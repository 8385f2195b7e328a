import { expect, test } from "vitest";
import { MANIFEST } from "../../src/model-store/manifest/manifest.ts";
import { type Card, checkQuotes, modelCards } from "./model-cards.ts";

const cardOf = (quote: string): Record<string, Card> => ({
  model: { cpu: [{ says: "18 ms a token", in: "bench/RESULTS.md", quote }] },
});

test("refuses a figure that its source no longer reports", async () => {
  await expect(checkQuotes(cardOf("| 1 | 17.8 | 18.0 |"))).resolves.toBeUndefined();
  const changed = checkQuotes(cardOf("| 1 | 17.8 | 9.0 |"));
  await expect(changed).rejects.toThrow(`model, "18 ms a token": bench/RESULTS.md does not have the words`);
});

test("has a row for every model that can be pulled, and says what was not measured", async () => {
  const page = await modelCards();
  for (const { id, isComponent } of MANIFEST) {
    expect(page.includes(`| \`${id}\`<br>`), id).toBe(isComponent !== true);
  }
  expect(page.split("\n").find((line) => line.startsWith("| `qwen3-8b`"))).toContain("| not measured |");
});
