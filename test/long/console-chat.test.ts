/** The console's chat: branches, answers beside each other, code, formulas, files and log probabilities. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const RICH = [
  "```python",
  "def double(x):",
  "    return 2 * x",
  "```",
  "",
  "It takes $O(n)$ steps and costs $5 or $6:",
  "",
  "$$\\sum_{i=1}^{n} i$$",
  "",
  "$\\href{javascript:globalThis.stolen=1}{link}$ $\\includegraphics{https://attacker.example/pixel.png}$",
  "",
  "| n | total |",
  "|--:|--:|",
  "| 1 | 1,234,567 |",
  "",
  "مرحبا بالعالم",
].join("\n");

/** For polls on a busy machine. */
const PATIENT = { timeout: 20_000 };

const CONFIG = `
builtin_models: false
models:
  - { id: echo, task: chat, price: { prompt: "0.000001", completion: "0.000002" }, deployments: [{ engine: scripted, echo: true, abilities: { logprobs: true } }] }
  - id: rich
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: ${JSON.stringify(RICH)} }] }]
  - id: quick
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "${"word ".repeat(30)}", delay_ms_per_token: 5 }] }]
  - id: slow
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "${"word ".repeat(30)}", delay_ms_per_token: 40 }] }]
  - { id: listener, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "What was said." }] }] }
`;

describe.runIf(hasChromium)("the console's chat", () => {
  let session: ConsoleSession;
  let page: Page;

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    ({ page } = session);
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const log = () => page.getByRole("log");
  const expectAccessibleInBothThemes = async () => {
    // A tooltip stands outside of the page's landmarks.
    await page.mouse.move(0, 0);
    await page.getByRole("tooltip").waitFor({ state: "hidden" });
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await session.expectAccessible();
    }
  };

  test("keeps an edited question and what followed it as a branch", async () => {
    await session.chatWith("echo");
    await session.ask("first");
    await session.ask("second");
    await page.getByRole("button", { name: "Edit message" }).first().click();
    await page.getByLabel("Edited message").fill("changed");
    await log().getByRole("button", { name: "Send" }).click();
    await expect.poll(() => log().getByText("changed", { exact: true }).count(), PATIENT).toBe(2);
    expect(await log().getByText("second", { exact: true }).count()).toBe(0);
    await log().getByText("2/2").waitFor();
    await page.getByRole("button", { name: "Previous branch" }).click();
    await expect.poll(() => log().getByText("second", { exact: true }).count(), PATIENT).toBe(2);
    await page.getByRole("button", { name: "Retry" }).last().click();
    await log().getByText("2/2").waitFor();
    await page.reload();
    await expect.poll(() => log().getByText("second", { exact: true }).count(), PATIENT).toBe(2);
    await page.getByRole("button", { name: "Next branch" }).first().click();
    await expect.poll(() => log().getByText("changed", { exact: true }).count(), PATIENT).toBe(2);
    await expectAccessibleInBothThemes();
  });

  test("lets models answer side by side, and names the fastest", async () => {
    await session.chatWith("quick", "slow");
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("Race");
    await page.keyboard.press("Enter");
    await log()
      .getByText(/\d tok\/s$/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    await log().getByText("Fastest", { exact: true }).waitFor();
    const lane = log().locator(".race-lane").filter({ hasText: "quick" });
    await lane.getByText("Fastest", { exact: true }).waitFor();
    await expectAccessibleInBothThemes();
  });

  test("colors code, sets formulas and leaves prices, without loading or running anything of the answer", async () => {
    await session.chatWith("rich");
    await session.ask("Show");
    const code = log().locator("pre code");
    await expect.poll(() => code.locator("span[style]").count(), PATIENT).toBeGreaterThan(3);
    expect(await code.textContent()).toBe("def double(x):\n    return 2 * x");
    await log().locator(".katex-display").waitFor();
    expect(await log().locator("annotation").first().textContent()).toBe("O(n)");
    await log().getByText("costs $5 or $6:").waitFor();
    expect(await log().locator("img, script, a[href^='javascript']").count()).toBe(0);
    const wrap = await page.evaluate("getComputedStyle(document.querySelector('.markdown td')).overflowWrap");
    expect(wrap).toBe("normal");
    expect(await log().getByText("مرحبا").getAttribute("dir")).toBe("auto");
    await page.getByRole("button", { name: "Copy answer" }).waitFor();
    await expectAccessibleInBothThemes();
    expect(await page.evaluate(() => "stolen" in globalThis)).toBe(false);
  });

  test("sends files as what the API takes", async () => {
    await session.chatWith("echo");
    const input = page.locator('input[type="file"]');
    const buffer = Buffer.from("a,b\n1,2\n");
    await input.setInputFiles([
      { name: "data.csv", mimeType: "text/csv", buffer },
      { name: "paper.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4") },
    ]);
    await page.getByRole("button", { name: "Remove paper.pdf" }).waitFor();
    await page.getByRole("button", { name: "Remove paper.pdf" }).click();
    await input.setInputFiles({ name: "photo.png", mimeType: "image/png", buffer });
    await page.getByText("echo does not see images. Choose another model, or remove the images.").waitFor();
    expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Remove image" }).click();
    await input.setInputFiles("test/recordings/speech.wav");
    await page.getByText("What was said.", { exact: true }).waitFor();
    const sent = page.waitForRequest(`${session.service.origin}/v1/chat/completions`);
    await session.ask("Sum it up");
    expect((await sent).postDataJSON().messages).toEqual([
      { role: "user", content: "data.csv:\n```\na,b\n1,2\n```\n\nSum it up" },
    ]);
    await log().getByText("data.csv", { exact: true }).waitFor();
  });

  test("colors tokens by their probability", async () => {
    await session.chatWith("echo");
    await session.withParameters(() => page.getByRole("switch", { name: "Log probabilities" }).click());
    await session.ask("one two three");
    await page.getByRole("button", { name: "Show log probabilities" }).click();
    await expect.poll(() => log().locator(".tokens p:last-child span[title]").count(), PATIENT).toBeGreaterThan(2);
    expect(await log().locator(".tokens p:last-child span").first().getAttribute("title")).toMatch(/%/);
    await expectAccessibleInBothThemes();
  });

  test("offers models with context and price", async () => {
    await session.chatWith("echo");
    await page.getByRole("button", { name: "Model: echo" }).click();
    await page.getByText("4.1K context · $1 → $2 per million").waitFor();
    await session.expectAccessible();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox", { name: "Models" }).waitFor({ state: "detached" });
    // One choice, and the keyboard alone.
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Models" }).fill("qu");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Model: quick" }).waitFor();
    await page.getByRole("button", { name: "Model: quick" }).click();
    await page.getByRole("switch", { name: "Compare up to 4 models" }).click();
    await page.getByRole("option", { name: "slow", exact: true }).click();
    await page.getByRole("button", { name: "Model: quick · slow" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("saves its settings as a prompt, which a link opens", async () => {
    await session.chatWith("echo");
    await session.withParameters(async () => {
      await page.getByLabel("System prompt").fill("Answer like a pirate.");
      await page.getByRole("spinbutton", { name: "Max tokens" }).fill("77");
    });
    await page.getByRole("button", { name: "Prompts", exact: true }).click();
    await page.getByLabel("Save these settings as").fill("Pirate");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Use Pirate" }).waitFor();
    await session.expectAccessible();
    await page.getByLabel("Save these settings as").fill("Pirate");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Another prompt of the project has this name.").waitFor();
    await page.keyboard.press("Escape");
    await session.chatWith("quick");
    await session.open("/chat?prompt=Pirate");
    await page.getByRole("button", { name: "Parameters (2 changed)" }).waitFor();
    await session.withParameters(async () => {
      expect(await page.getByLabel("System prompt").inputValue()).toBe("Answer like a pirate.");
      expect(await page.getByRole("spinbutton", { name: "Max tokens" }).inputValue()).toBe("77");
    });
    await expect.poll(() => page.url(), PATIENT).toMatch(/chat\?c=/);
    await session.open("/chat?prompt=missing");
    await page.getByText("The project has no prompt 'missing'.").waitFor();
  });

  test("leaves the reader at another page when a prompt's link answers late", async () => {
    const answer = Promise.withResolvers<void>();
    await page.route("**/v1/prompts/late/**", async (route) => {
      await answer.promise;
      await route.continue();
    });
    const request = page.waitForRequest("**/v1/prompts/late/**");
    await session.open("/chat?prompt=late");
    await request;
    await session.open("/images");
    await page.getByRole("heading", { name: "Images", exact: true }).waitFor();
    answer.resolve();
    await page.getByText("The project has no prompt 'late'.").waitFor();
    expect(new URL(page.url()).hash).toBe("#/images");
  });

  test("fits a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await session.open("/chat?c=quick-slow");
    await log().getByText("Fastest", { exact: true }).waitFor();
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390);
    await session.expectAccessible();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("leaves no error in the browser's console", () => {
    // A version that two wrote at once, and prompts that links name in vain.
    const refused = /status of 409|status of 404.*\/prompts\/(missing|late)\//;
    expect(session.complaints.filter((complaint) => !refused.test(complaint))).toEqual([]);
  });
});
