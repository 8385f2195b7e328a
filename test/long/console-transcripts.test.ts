/** Transcripts in the console: what the page asks of a model, what a reload keeps, and speakers, whose model is downloaded. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const CONFIG = `
builtin_models: false
local: { load: on_demand }
models:
  - { id: listener, task: transcription, deployments: [{ engine: moonshine, model: moonshine-base-en }] }
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;
const DOWNLOAD_MS = 180_000;

describe.runIf(hasChromium)("transcripts in the console", () => {
  let session: ConsoleSession;
  let page: Page;
  const refused: string[] = [];

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    ({ page } = session);
    page.on("response", (response) => {
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
    });
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const transcribe = async () => {
    await page.getByRole("button", { name: "Transcribe" }).click();
    await page.getByRole("button", { name: "Copy text" }).waitFor({ timeout: 60_000 });
  };

  /** Whether the browser's database has a transcript. */
  const isStored = () =>
    page.evaluate<boolean>(`new Promise((resolve) => {
      const opening = indexedDB.open("parlance-studio", 1);
      opening.onsuccess = () => {
        const reading = opening.result.transaction("studio").objectStore("studio").get("open");
        reading.onsuccess = () => {
          opening.result.close();
          resolve(reading.result?.transcript !== undefined);
        };
      };
    })`);

  test("asks a model that is not loaded for nothing that it lacks", async () => {
    await session.open("/transcription");
    await page.getByText("This model cannot tell speakers apart yet.").waitFor();
    await session.expectAccessible();
    await page.locator("input[type=file]").setInputFiles("test/recordings/speech.mp3");
    await transcribe();
    expect(refused).toEqual([]);
  });

  test("keeps recording and transcript in the browser until they are closed", async () => {
    const text = await page.getByTestId("transcript").textContent();
    await expect.poll(isStored).toBe(true);
    await page.reload();
    await page.getByText("speech.mp3").waitFor();
    await expect.poll(() => page.getByTestId("transcript").textContent()).toBe(text);
    await page.getByTestId("transcript").getByRole("button", { name: "Play from" }).last().click();
    await page.getByRole("button", { name: "Close recording" }).click();
    await page.getByRole("heading", { name: "Drop a recording here" }).waitFor();
    await expect.poll(isStored).toBe(false);
    await page.reload();
    await page.getByRole("heading", { name: "Drop a recording here" }).waitFor();
  });

  test("adds speakers by one click, without a restart", async () => {
    await page.getByRole("button", { name: "Add speakers (81 MB)" }).click();
    await page.getByRole("switch", { name: "Speakers" }).waitFor({ timeout: DOWNLOAD_MS });
    await page.locator("input[type=file]").setInputFiles("test/recordings/speech.mp3");
    await transcribe();
    await page
      .getByTestId("transcript")
      .getByRole("button", { name: /Speaker A/ })
      .first()
      .waitFor();
    await session.expectAccessible();
    expect(refused).toEqual([]);
  }, 240_000);
});
