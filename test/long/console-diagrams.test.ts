/** Mermaid diagrams in the chat: pictures under the content security policy, without anything that loads or runs. */

import { writeFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const fence = (source: string) => `\`\`\`mermaid\n${source}\n\`\`\`\n`;
const FLOW = "graph TD\n  A[Question] --> B{Is it <b>bold</b>?}\n  B -->|Yes| C[Answer]\n  B -->|No| D[Doubt]";
const SEQUENCE = "sequenceDiagram\n  Alice->>Bob: Hello\n  Bob-->>Alice: Hi";
/** What would load or run something in a page. */
const HOSTILE =
  'graph TD\n  A["<img src=https://attacker.example/pixel.png onerror=globalThis.stolen=1>"] --> B\n  click A "javascript:globalThis.stolen=1"\n  style A fill:url(https://attacker.example/fill.svg#a)';
const BROKEN = "this is no diagram";
const NODES = Array.from({ length: 44 }, (_each, at) => `N${at}`);
/** Joins each node to each: its drawing takes minutes, and a sparse one of as many lines seconds. */
const HUGE = ["graph TD", ...NODES.flatMap((from, at) => NODES.slice(at + 1).map((to) => `${from} --> ${to}`))].join(
  "\n",
);
/** Wider than any screen. */
const WIDE = `graph LR\n${Array.from({ length: 40 }, (_each, at) => `  N${at} --> N${at + 1}`).join("\n")}`;

const CONFIG = `
builtin_models: false
models:
${Object.entries({
  drawn: fence(FLOW) + fence(SEQUENCE),
  hostile: fence(HOSTILE),
  broken: fence(BROKEN) + fence(FLOW),
  wide: fence(WIDE),
  huge: fence(HUGE) + fence(SEQUENCE),
})
  .map(
    ([id, text]) =>
      `  - { id: ${id}, task: chat, deployments: [{ engine: scripted, replies: [{ text: ${JSON.stringify(text)} }] }] }`,
  )
  .join("\n")}
`;
/** For polls on a busy machine. */
const PATIENT = { timeout: 60_000 };

describe.runIf(hasChromium)("diagrams in the chat", () => {
  let session: ConsoleSession;
  let page: Page;
  const requests: string[] = [];

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    ({ page } = session);
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const pictures = () => page.getByRole("log").getByRole("img", { name: /^Diagram: / });
  const isDrawn = (picture: Locator) =>
    picture.evaluate(async (image) => {
      const { decode, naturalWidth } = image as unknown as { decode(): Promise<void>; naturalWidth: number };
      await decode.call(image);
      return naturalWidth;
    });

  test("loads the code that draws with the first diagram", async () => {
    expect(requests.filter((url) => /diagram/.test(url))).toEqual([]);
  });

  test("draws diagrams as pictures with a description, in both themes, and shows their source", async () => {
    await session.chatWith("drawn");
    await session.ask("Draw");
    await expect.poll(() => pictures().count(), PATIENT).toBe(2);
    expect(await pictures().first().getAttribute("alt")).toMatch(/^Diagram: .*Question.*Answer/);
    expect(await pictures().last().getAttribute("alt")).toMatch(/Alice.*Bob/);
    for (const picture of await pictures().all()) expect(await isDrawn(picture)).toBeGreaterThan(100);
    expect(await pictures().first().getAttribute("src")).not.toMatch(/import|script|http(?!%3A%2F%2Fwww\.w3\.org)/);
    for (const colorScheme of ["light", "dark"] as const) {
      const before = await pictures().first().getAttribute("src");
      await page.emulateMedia({ colorScheme });
      if (colorScheme === "dark") {
        await expect.poll(() => pictures().first().getAttribute("src"), PATIENT).not.toBe(before);
      }
      await expect.poll(() => pictures().count(), PATIENT).toBe(2);
      await session.expectAccessible();
      const folder = process.env.DIAGRAM_PICTURES;
      if (folder) await writeFile(`${folder}/diagram-${colorScheme}.png`, await page.screenshot());
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByText("Source", { exact: true }).first().click();
    await page.getByRole("log").getByText("Is it <b>bold</b>?").waitFor();
  });

  test("neither loads nor runs anything of a diagram", async () => {
    await session.chatWith("hostile");
    await session.ask("Draw");
    await expect.poll(() => pictures().count(), PATIENT).toBe(1);
    expect(await isDrawn(pictures().first())).toBeGreaterThan(0);
    expect(requests.filter((url) => url.includes("attacker") || url.includes("fonts.googleapis"))).toEqual([]);
    expect(await page.evaluate(() => "stolen" in globalThis)).toBe(false);
  });

  test("shows the source of what is no diagram, and draws the next one", async () => {
    await session.chatWith("broken");
    await session.ask("Draw");
    await page.getByText(/^Not drawn: Invalid/).waitFor();
    await page.getByRole("log").getByText(BROKEN, { exact: true }).waitFor();
    await expect.poll(() => pictures().count(), PATIENT).toBe(1);
    await session.expectAccessible();
  });

  test("gives up on a diagram that takes too long, without blocking the page or the next one", async () => {
    await session.chatWith("huge");
    await session.ask("Draw");
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("The page still takes what is typed");
    await page.getByText("Not drawn: it is too large.").waitFor({ timeout: 60_000 });
    await expect.poll(() => pictures().count(), PATIENT).toBe(1);
  });

  test("scrolls a wide diagram on a phone", async () => {
    await page.setViewportSize({ width: 390, height: 780 });
    await session.chatWith("wide");
    await session.ask("Draw");
    await expect.poll(() => pictures().count(), PATIENT).toBe(1);
    const scrolls = pictures()
      .locator("..")
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
    expect(await scrolls).toBe(true);
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    expect(overflow).toBe(0);
  });

  test("violates no policy", () => {
    expect(session.complaints).toEqual([]);
  });
});
