/** The console with 10,000 keys and requests, 1,000 models, 500 messages and a year of usage: every interaction is answered on the screen within 200 ms. */

import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../support/service/chromium.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const KEYS = 10_000;
const DAYS = 365;
const MODELS = 12;
const REQUESTS = 10_000;
const CATALOG = 1000;
const MESSAGES = 500;
const CONFIG = `
builtin_models: false
models:
${Array.from({ length: CATALOG }, (_each, index) => `  - { id: catalog-${index}, task: chat, deployments: [{ engine: scripted, echo: true }] }`).join("\n")}
`;
/** Google's bound of a good Interaction to Next Paint. */
const MAX_INTERACTION_MS = 200;
const isQuick = (milliseconds: number) => milliseconds < MAX_INTERACTION_MS;
const DAY = 86_400_000;

function seed({ dataDirectory }: ServiceProcess): void {
  const database = new BetterSqlite(join(dataDirectory, "parlance.sqlite"));
  const project = database.prepare("select id, organization_id from projects").get() as {
    id: string;
    organization_id: string;
  };
  const now = Date.now();
  const scope = { organization: project.organization_id, project: project.id };
  const key = database.prepare(
    `insert into api_keys (id, organization_id, project_id, kind, name, key_hash, redacted_value, is_fixed, created_at)
     values (@id, @organization, @project, 'project', @name, @id, @redacted, 0, @at)`,
  );
  const dimension = database.prepare(
    `insert into usage_dimensions (id, organization_id, project_id, key_id, model, deployment, operation)
     values (@id, @organization, @project, 'key_seeded_1', @model, @model, 'chat')`,
  );
  const rollup = database.prepare(
    `insert into usage_rollups (bucket_seconds, begins_at, dimension_id, requests, prompt_tokens, cached_tokens,
       completion_tokens, reasoning_tokens, characters, audio_milliseconds, cost_nano_dollars)
     values (86400, @at, @dimension, @requests, @tokens, 0, @tokens, 0, 0, 0, @cost)`,
  );
  const request = database.prepare(
    `insert into request_history (id, at, dimension_id, attempts, queued_milliseconds, first_token_milliseconds,
       duration_milliseconds, prompt_tokens, cached_tokens, completion_tokens, cost_nano_dollars)
     values (@id, @at, 2000000, 1, 0, 120, @duration, 900, 0, 300, 100000)`,
  );
  database.transaction(() => {
    database
      .prepare(
        `insert into request_dimensions (id, organization_id, project_id, key_id, operation, model, answered_by,
           deployment, status, outcome, last_day)
         values (2000000, @organization, @project, 'key_seeded_1', 'chat/completions', 'seeded', 'seeded', 'seeded',
           200, 'completed', @day)`,
      )
      .run({ ...scope, day: Math.floor(now / DAY) * DAY });
    for (let index = 0; index < REQUESTS; index += 1) {
      request.run({ id: `req_seeded_${index}`, at: now - index * 8000, duration: 200 + (index % 900) });
    }
    for (let index = 0; index < KEYS; index += 1) {
      key.run({
        ...scope,
        id: `key_seeded_${index}`,
        name: `program ${index}`,
        redacted: `sk-…${index}`,
        at: now - index,
      });
    }
    for (let model = 0; model < MODELS; model += 1) {
      dimension.run({ ...scope, id: 1_000_000 + model, model: `model-${model}` });
      for (let day = 0; day < DAYS; day += 1) {
        const requests = 50 + ((day * 7 + model * 13) % 90);
        const at = Math.floor(now / DAY) * DAY - day * DAY;
        rollup.run({ at, dimension: 1_000_000 + model, requests, tokens: 900 * requests, cost: 1e7 * requests });
      }
    }
  })();
  database.close();
}

/** Counts the turns on the page in every frame until the result is called. */
async function turnsByFrame(page: Page): Promise<() => Promise<number[]>> {
  await page.evaluate(`
    globalThis.turnCounts = [];
    const count = () => {
      turnCounts.push(document.querySelectorAll(".turn").length);
      globalThis.counting = requestAnimationFrame(count);
    };
    count();
  `);
  return () => page.evaluate<number[]>("cancelAnimationFrame(counting), turnCounts");
}

describe.runIf(hasChromium)("the console with much data", () => {
  let service: ServiceProcess;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    service = await startServiceProcess({ config: CONFIG });
    seed(service);
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    page.setDefaultTimeout(60_000);
    await page.addInitScript(() => {
      interface Timed {
        duration: number;
        interactionId?: number;
      }
      const { PerformanceObserver: Observer } = globalThis as unknown as {
        PerformanceObserver: new (
          seen: (list: { getEntries(): Timed[] }) => void,
        ) => { observe(options: { type: string; durationThreshold: number; buffered: boolean }): void };
      };
      const durations: number[] = [];
      Object.assign(globalThis, { interactionDurations: durations });
      const observer = new Observer((list) => {
        for (const { duration, interactionId } of list.getEntries()) if (interactionId) durations.push(duration);
      });
      observer.observe({ type: "event", durationThreshold: 16, buffered: true });
    });
    const codes = await fetch(`${service.baseUrl}/organization/console_sign_in_codes`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { code } = (await codes.json()) as { code: string };
    await page.goto(`${service.origin}/#/sign-in?code=${code}`);
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  /** Longest interaction since the last call, in milliseconds, from the input to the next frame. */
  async function longestInteraction(): Promise<number> {
    // Entries arrive after the frame that they describe.
    await page.waitForTimeout(300);
    return page.evaluate(() => {
      const { interactionDurations } = globalThis as unknown as { interactionDurations: number[] };
      return Math.max(0, ...interactionDurations.splice(0));
    });
  }

  test("searches and scrolls 10,000 keys", async () => {
    await page.goto(`${service.origin}/#/projects`);
    await page.getByRole("link", { name: "Default project" }).click();
    const search = page.getByRole("textbox", { name: "Search keys" });
    await search.waitFor();
    await page.getByRole("cell", { name: "program 0", exact: true }).waitFor();
    expect(await page.getByRole("row").count()).toBeLessThan(80);
    await longestInteraction();
    await search.pressSequentially("program 999");
    // The oldest of all is read only when it is searched.
    await page.getByRole("cell", { name: "program 9999", exact: true }).waitFor();
    for (let count = 0; count < 11; count += 1) await page.keyboard.press("Backspace");
    await page.getByRole("cell", { name: "program 0", exact: true }).waitFor();
    expect(["search", await longestInteraction()]).toEqual(["search", expect.toSatisfy(isQuick)]);
    await search.blur();
    // Each end of the list brings another hundred keys.
    await expect
      .poll(
        async () => {
          await page.keyboard.press("End");
          return page.evaluate<number>("document.documentElement.scrollHeight");
        },
        { timeout: 30_000 },
      )
      .toBeGreaterThan(45_000);
    expect(await page.evaluate(() => (globalThis as unknown as { scrollY: number }).scrollY)).toBeGreaterThan(30_000);
    expect(await page.getByRole("row").count()).toBeLessThan(80);
    expect(["scroll", await longestInteraction()]).toEqual(["scroll", expect.toSatisfy(isQuick)]);
    await page.getByRole("button", { name: "Revoke" }).last().click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    expect(["dialog", await longestInteraction()]).toEqual(["dialog", expect.toSatisfy(isQuick)]);
  });

  test("draws a year of usage", async () => {
    await page.goto(`${service.origin}/#/usage`);
    await page.getByRole("cell", { name: "model-3", exact: true }).waitFor();
    await page.getByRole("combobox", { name: "Time range" }).click();
    await page.getByRole("option", { name: "Last year" }).click();
    // A year of the seeded requests, instead of a week.
    await page
      .getByText(/^\d{3}(\.\d)?K$/)
      .first()
      .waitFor();
    await page.locator(".chart-plot svg").first().waitFor();
    await longestInteraction();
    for (const metric of ["Cost", "Requests", "Tokens"]) {
      await page.getByRole("combobox", { name: "Metric" }).click();
      await page.getByRole("option", { name: metric, exact: true }).click();
      expect([metric, await longestInteraction()]).toEqual([metric, expect.toSatisfy(isQuick)]);
    }
  });

  test("scrolls and filters 10,000 requests", async () => {
    await page.goto(`${service.origin}/#/requests`);
    await page.getByRole("link", { name: "seeded" }).first().waitFor();
    await longestInteraction();
    await expect
      .poll(
        async () => {
          await page.keyboard.press("End");
          return page.evaluate<number>("document.documentElement.scrollHeight");
        },
        { timeout: 60_000 },
      )
      .toBeGreaterThan(20_000);
    expect(await page.getByRole("row").count()).toBeLessThan(80);
    expect(["scroll", await longestInteraction()]).toEqual(["scroll", expect.toSatisfy(isQuick)]);
    await page.getByRole("radiogroup", { name: "Outcome" }).getByText("Failed").click();
    await page.getByText("No request matches these filters").waitFor();
    expect(["filter", await longestInteraction()]).toEqual(["filter", expect.toSatisfy(isQuick)]);
  });

  test("searches 1,000 models, and chooses one in the chat", async () => {
    await page.goto(`${service.origin}/#/models`);
    const search = page.getByRole("textbox", { name: "Search models" });
    await search.waitFor();
    await page.getByText("catalog-0", { exact: true }).first().waitFor();
    await longestInteraction();
    await search.pressSequentially("catalog-99");
    await page.getByText("catalog-990", { exact: true }).first().waitFor();
    expect(["search", await longestInteraction()]).toEqual(["search", expect.toSatisfy(isQuick)]);
    await page.goto(`${service.origin}/#/overview`);
    await page.getByRole("heading", { name: "Deployments" }).waitFor();
    await page.goto(`${service.origin}/#/chat`);
    const models = page.getByRole("combobox", { name: "Models" });
    await page.getByRole("button", { name: /^Model: / }).waitFor();
    await longestInteraction();
    await page.getByRole("button", { name: /^Model: / }).click();
    await models.pressSequentially("catalog-77");
    await page.getByRole("option", { name: "catalog-777", exact: true }).click();
    expect(["choose", await longestInteraction()]).toEqual(["choose", expect.toSatisfy(isQuick)]);
  });

  test("types and scrolls in a conversation of 500 messages", async () => {
    const turns = Array.from({ length: MESSAGES / 2 }, (_each, index) => ({
      ...{ id: `turn-${index}`, text: `Question ${index}`, images: [] },
      answers: [
        {
          ...{ model: "catalog-1", alternatives: [], reasoning: "", toolCalls: [], state: "done" },
          text: `Answer **${index}**\n\n\`\`\`python\nprint(${index})\n\`\`\`\n\nwith $x^${index}$.`,
        },
      ],
    }));
    const stored = JSON.stringify({ id: "long", changedAt: 1, models: ["catalog-1"], parameters: {}, turns });
    // The page of chats stores its conversation when it is left.
    await page.goto(`${service.origin}/#/overview`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.evaluate(`localStorage.setItem("parlance-conversation/long", ${JSON.stringify(stored)})`);
    await page.goto(`${service.origin}/#/chat?c=long`);
    await page.getByText("Question 249", { exact: true }).waitFor();
    await longestInteraction();
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    await message.pressSequentially("One more question");
    expect(["type", await longestInteraction()]).toEqual(["type", expect.toSatisfy(isQuick)]);
    // The button is above all turns, and reaching it already shows some.
    const frames = await turnsByFrame(page);
    await page.getByText("Question 230", { exact: true }).scrollIntoViewIfNeeded();
    await page.getByRole("log").and(page.locator("[aria-busy=false]")).waitFor();
    const before = await page.getByText("Question 230", { exact: true }).boundingBox();
    await page.getByRole("button", { name: "Show earlier messages" }).dispatchEvent("click");
    await page.getByText("Question 211", { exact: true }).waitFor({ state: "attached" });
    await page.getByRole("log").and(page.locator("[aria-busy=false]")).waitFor();
    const counts = await frames();
    const steps = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
    expect(Math.max(...steps)).toBeLessThanOrEqual(2);
    expect(counts.at(-1)).toBeGreaterThanOrEqual(40);
    const after = await page.getByText("Question 230", { exact: true }).boundingBox();
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
    await page.getByRole("log").hover();
    await page.mouse.wheel(0, -300);
    expect(["earlier", await longestInteraction()]).toEqual(["earlier", expect.toSatisfy(isQuick)]);
    await message.press("Enter");
    await page.getByText("One more question", { exact: true }).nth(1).waitFor();
    expect(["ask", await longestInteraction()]).toEqual(["ask", expect.toSatisfy(isQuick)]);
    await page.getByRole("button", { name: "Edit message" }).last().click();
    await page.getByLabel("Edited message").fill("Another question");
    await page.getByRole("log").getByRole("button", { name: "Send" }).click();
    await page.getByText("Another question", { exact: true }).nth(1).waitFor();
    expect(["edit", await longestInteraction()]).toEqual(["edit", expect.toSatisfy(isQuick)]);
    await page.getByRole("button", { name: "Previous branch" }).click();
    await page.getByText("One more question", { exact: true }).nth(1).waitFor();
    expect(["branch", await longestInteraction()]).toEqual(["branch", expect.toSatisfy(isQuick)]);
    await page.getByRole("button", { name: "Conversations", exact: true }).click();
    await page.getByRole("button", { name: /^Question 0/ }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Conversations", exact: true }).click();
    await page.getByRole("button", { name: /^Question 0/ }).waitFor();
    expect(["list", await longestInteraction()]).toEqual(["list", expect.toSatisfy(isQuick)]);
  });
});
