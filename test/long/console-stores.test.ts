/** Vector stores in the console: created, filled by drag and drop, searched, changed and deleted. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";
import { pdf } from "../support/vector-stores/sample-documents.ts";
import { startWordEmbedder } from "../support/vector-stores/word-embedder.ts";

const NOTES = `# Otters

Otters swim in rivers and eat trout, crabs and frogs.

# Tides

A spring tide follows the full moon.`;

describe.runIf(hasChromium)("the console's vector stores", () => {
  const cleanup = new AsyncDisposableStack();
  let session: ConsoleSession;

  beforeAll(async () => {
    const embedder = cleanup.use(await startWordEmbedder());
    const config = `
builtin_models: false
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "/Otters/", text: "They eat trout【1】." }
          - { match: otters, tool_calls: [{ name: file_search, arguments: { queries: [otters eat] } }] }
          - { text: "I need no tool." }
  - { id: words, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${embedder.url}", model: words }] }
`;
    session = cleanup.use(await startConsole(config, { hears: false }));
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => cleanup.disposeAsync());

  const expectAccessible = async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await session.page.emulateMedia({ colorScheme });
      await session.expectAccessible();
    }
  };

  test("creates a store and says which files it cannot read", async () => {
    const { page, open } = session;
    await open("/stores");
    await page.getByText("No vector stores yet").waitFor();
    await page.getByRole("button", { name: "New store" }).click();
    await page.getByLabel("Name").fill("Animals");
    await page.getByLabel("Expires after days without use").fill("7");
    await page.getByText("at twice the CPU time: an administrator pulls it first").waitFor();
    await session.pick("Embedding model", "words");
    await page.getByRole("button", { name: "Create store" }).click();
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    await page.getByText("No files yet").waitFor();
    await page.getByLabel("Files to add").setInputFiles([
      { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from(NOTES) },
      { name: "tides.pdf", mimeType: "application/pdf", buffer: pdf("Tides follow the moon.") },
      { name: "dot.png", mimeType: "image/png", buffer: Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1") },
    ]);
    const rowOf = (name: string) => page.getByRole("row", { name: new RegExp(name) });
    await rowOf("notes.md").getByText("Ready").waitFor();
    await rowOf("tides.pdf").getByText("Ready").waitFor();
    await rowOf("dot.png").getByText("PNG image").waitFor();
    await expectAccessible();
  });

  test("takes files that are dropped", async () => {
    const { page } = session;
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(["Frogs croak at night."], "frogs.txt", { type: "text/plain" }));
      return transfer;
    })()`);
    await page.locator(".drop-zone").dispatchEvent("drop", { dataTransfer: transfer });
    await page.getByRole("row", { name: /frogs\.txt.*Ready/ }).waitFor();
  });

  test("searches with scores and marked words, and shows chunks", async () => {
    const { page } = session;
    await page.getByLabel("Search the store").fill("what do otters eat");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const first = page.locator(".results > li").first();
    await first.getByText("notes.md").waitFor();
    expect(await first.locator("mark").allTextContents()).toContain("Otters");
    expect(await first.getByRole("progressbar").getAttribute("aria-valuenow")).not.toBe("0");
    await expectAccessible();
    await page
      .getByRole("row", { name: /tides\.pdf/ })
      .getByRole("button", { name: "Chunks" })
      .click();
    await page.getByRole("dialog").getByText("Tides follow the moon.").waitFor();
    await page.getByRole("dialog").getByText("1 chunk", { exact: true }).waitFor();
    await expectAccessible();
    await page.keyboard.press("Escape");
  });

  test("sets attributes of a file and the expiry of the store", async () => {
    const { page } = session;
    const row = page.getByRole("row", { name: /notes\.md/ });
    await row.getByRole("button", { name: "Attributes" }).click();
    await page.getByLabel("Attributes, one per line").fill("year");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Write 'year' as a name").waitFor();
    await page.getByLabel("Attributes, one per line").fill("year: 2026\nteam: rivers");
    await expectAccessible();
    await page.getByRole("button", { name: "Save" }).click();
    await row.getByText("year: 2026, team: rivers").waitFor();
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("Expires after days without use").fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/expires in/).waitFor({ state: "detached" });
  });

  test("attaches the store to a chat, and shows the search, its results and the sources", async () => {
    const { page, open } = session;
    const store = page.url();
    await open("/chat");
    // `#` names a store, with the keyboard alone.
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("#ani");
    await page.getByRole("option", { name: "Animals" }).waitFor();
    await expectAccessible();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Animals" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Message", exact: true }).inputValue()).toBe("");
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("What do otters eat?");
    await page.keyboard.press("Enter");
    await page.getByText("They eat trout.", { exact: true }).waitFor();
    await page.getByText("Searched documents").waitFor();
    await page.getByText("otters eat", { exact: true }).waitFor();
    await page.getByRole("region", { name: "Sources" }).getByText("1. notes.md").waitFor();
    await page.getByRole("button", { name: /results?$/ }).click();
    await page.getByText("Otters swim in rivers and eat trout").waitFor();
    await expectAccessible();
    await page.getByRole("button", { name: "Get code" }).click();
    expect(await page.getByRole("dialog").textContent()).toContain("file_search");
    await page.keyboard.press("Escape");
    await page.goto(store);
    await page.getByRole("row", { name: /dot\.png/ }).waitFor();
  });

  test("fits a phone, removes a file and deletes the store", async () => {
    const { page, open } = session;
    await page.setViewportSize({ width: 390, height: 800 });
    const scrollWidth = () => page.evaluate<number>("document.documentElement.scrollWidth");
    await expect.poll(scrollWidth).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page
      .getByRole("row", { name: /dot\.png/ })
      .getByRole("button", { name: "Remove" })
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByRole("row", { name: /dot\.png/ }).waitFor({ state: "detached" });
    await open("/stores");
    await page.getByText("3 files").waitFor();
    await expectAccessible();
    await page.getByRole("link", { name: "Animals" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No vector stores yet").waitFor();
    expect(session.complaints).toEqual([]);
  });
});
