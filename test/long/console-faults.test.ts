/** What people stumbled over in the console, and must not again. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const CONFIG = `
builtin_models: false
models:
  - id: seer
    task: chat
    price: { prompt: "0.000001", completion: "0.000002" }
    deployments: [{ engine: scripted, abilities: { vision: true, tools: true }, replies: [{ text: A picture. }] }]
  - id: painter
    task: chat
    deployments: [{ engine: scripted, abilities: { vision: true, tools: true }, replies: [{ text: Another. }] }]
`;
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
const MIN_LETTERS_PX = 11;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const overlap = (one: Box, other: Box) =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

describe.runIf(hasChromium)("the console", () => {
  let session: ConsoleSession;
  let page: Page;

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    ({ page } = session);
    const client = session.service.client({ maxRetries: 0 });
    for (const model of ["seer", "painter", "missing"]) {
      await client.chat.completions.create({ model, messages: [{ role: "user", content: "Hi" }] }).catch(() => {});
    }
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  test("begins a chat right below the greeting, and on a phone at the lower edge", async () => {
    const send = page.getByRole("button", { name: "Send", exact: true });
    const greeting = page.getByText("What can I do for you?");
    await greeting.waitFor();
    const examples = page.locator(".chat-examples");
    const gap = async () => {
      const [above, field] = [await examples.boundingBox(), await page.locator(".composer").boundingBox()];
      return (field?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0);
    };
    await expect.poll(gap).toBeLessThan(40);
    await page.setViewportSize(PHONE);
    await expect.poll(async () => (await send.boundingBox())?.y ?? 0).toBeGreaterThan(PHONE.height - 90);
    await page.setViewportSize(DESKTOP);
  });

  test("offers the tools that work, and says how to turn on the others", async () => {
    const tools = page.getByRole("group", { name: "Tools" });
    await tools.getByRole("button", { name: "More tools" }).click();
    await page.getByText("The service has no search engine.").waitFor();
    await page.getByRole("link", { name: "Add an image model" }).waitFor();
    await session.expectAccessible();
    await page.keyboard.press("Escape");
    expect(await tools.getByRole("button", { name: "Web search" }).count()).toBe(0);
    expect(await tools.getByRole("button", { name: "Image generation" }).count()).toBe(0);
  });

  test("keeps attached images when the model changes, which takes two clicks", async () => {
    await page.locator('input[type="file"]').setInputFiles("docs/images/chat-phone.png");
    await page.getByRole("img", { name: "Attached" }).waitFor();
    await page.getByRole("button", { name: "Model: seer" }).click();
    await page.getByRole("option", { name: "painter" }).click();
    await page.getByRole("button", { name: "Model: painter" }).waitFor();
    expect(await page.getByRole("img", { name: "Attached" }).count()).toBe(1);
    await session.ask("What is this?");
    await page.getByRole("log").getByRole("img", { name: "Attached" }).waitFor();
  });

  test("shows no notification over the button that sends", async () => {
    const list = page.getByRole("complementary", { name: "Conversations" });
    await list.getByRole("button", { name: /^Options of What is this/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const undo = page.getByRole("button", { name: "Undo" });
    await undo.waitFor();
    for (const size of [PHONE, DESKTOP]) {
      await page.setViewportSize(size);
      const notification = (await page.getByRole("alert").filter({ has: undo }).boundingBox()) as Box;
      const send = (await page.getByRole("button", { name: "Send", exact: true }).boundingBox()) as Box;
      expect([size.width, overlap(notification, send)]).toEqual([size.width, false]);
    }
  });

  test("draws the time that was chosen, and names each model once per request", async () => {
    await session.open("/requests");
    await page.getByRole("link", { name: "seer" }).first().waitFor();
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "seer" }) });
    expect((await row.first().textContent())?.match(/seer/g)).toHaveLength(1);
    const bars = page.getByRole("slider", { name: "Requests over time" });
    await session.pick("Time range", "Last 15 minutes");
    const asked = page.waitForResponse((response) => response.url().includes("histogram"));
    await page.reload();
    const { searchParams } = new URL((await asked).url());
    expect(Number(searchParams.get("end_time")) - Number(searchParams.get("start_time"))).toBe(900);
    await bars.waitFor();
  });

  test("stacks the cells of rows on a phone, each with its heading, and keeps seldom filters behind a button", async () => {
    await page.setViewportSize(PHONE);
    for (const [path, heading] of [
      ["/requests", "Outcome"],
      ["/models", "State"],
      ["/projects", "Created"],
    ] as const) {
      await session.open(path);
      const cell = page.locator(`td[data-label="${heading}"]`).first();
      await cell.waitFor();
      // biome-ignore lint/suspicious/noExplicitAny: a function of the page
      const shown = await cell.evaluate((each) => (globalThis as any).getComputedStyle(each, "::before").content);
      expect([path, shown]).toEqual([path, expect.stringContaining(heading)]);
      const edges = await page.locator("td.cell").evaluateAll(
        // biome-ignore lint/suspicious/noExplicitAny: elements of the page
        (cells: any[]) => cells.map((each) => each.getBoundingClientRect().right),
      );
      expect([path, Math.max(...edges)]).toEqual([path, expect.toSatisfy((edge: number) => edge <= PHONE.width)]);
      await session.expectAccessible();
    }
    await session.open("/requests?model=seer");
    const filters = page.getByRole("button", { name: "Filters · 1" });
    await filters.waitFor();
    const model = page.getByRole("combobox", { name: "Model" }).or(page.getByRole("textbox", { name: "Model" }));
    expect(await model.isVisible()).toBe(false);
    await filters.click();
    await model.waitFor();
    await session.expectAccessible();
    await page.setViewportSize(DESKTOP);
    expect(await filters.isVisible()).toBe(false);
    expect(await model.isVisible()).toBe(true);
  });

  test("has no letters below 11 pixels", async () => {
    for (const [path, last] of [
      ["/overview", "Deployments"],
      ["/requests", "seer"],
      ["/models", "painter"],
      ["/projects", "Default project"],
      ["/connections", "painter"],
      ["/audit", "From"],
    ] as const) {
      await session.open(path);
      await page.locator("#main").getByText(last).first().waitFor();
      const sizes = await page.locator("#root *:visible").evaluateAll(
        // biome-ignore lint/suspicious/noExplicitAny: elements of the page
        (all: any[]) =>
          all
            .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ""))
            // biome-ignore lint/suspicious/noExplicitAny: a function of the page
            .map((each) => Number.parseFloat((globalThis as any).getComputedStyle(each).fontSize))
            // What a refresh has just replaced has no style.
            .filter((size) => !Number.isNaN(size)),
      );
      expect([path, Math.min(...sizes)]).toEqual([path, expect.toSatisfy((size: number) => size >= MIN_LETTERS_PX)]);
    }
  });

  test("leaves no error in the browser's console", () => {
    expect(session.complaints).toEqual([]);
  });
});
