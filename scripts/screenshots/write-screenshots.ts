/** Takes the pictures of the console in docs/images from sample data: `npm run screenshots`, with Chromium installed. */

import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../test/support/service/chromium.ts";
import { type Service, startService } from "../../test/support/service/service.ts";
import { SAMPLE_CONFIG, SAMPLE_MODELS } from "./sample-models.ts";
import { type Administer, seedUsage } from "./seed-usage.ts";

const FOLDER = resolve(import.meta.dirname, "../../docs/images");
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const QUESTION = "How does merge sort work, and how fast is it?";
const SETTLE_MS = 1500;

interface Visit {
  service: Service;
  browser: Browser;
  colorScheme: "light" | "dark";
  viewport: { width: number; height: number };
}

const service = await startService({ config: SAMPLE_CONFIG, until: "listening" });
const browser = await launchChromium();
try {
  await seedUsage(service, administer);
  await warmUp();
  const light = await visit({ service, browser, colorScheme: "light", viewport: DESKTOP });
  await race(light, SAMPLE_MODELS.slice(0, 2));
  await save(light, "console-light.png");
  await light.goto(`${service.origin}/#/models?view=library`);
  await save(light, "console-library.png");
  await light.goto(`${service.origin}/#/usage?range=30d&metric=cost`);
  await save(light, "console-usage.png");
  await light.goto(`${service.origin}/#/requests`);
  await save(light, "console-requests.png");
  const dark = await visit({ service, browser, colorScheme: "dark", viewport: DESKTOP });
  await dark.evaluate("localStorage.setItem('parlance-first-steps-dismissed', 'true')");
  await dark.goto(`${service.origin}/#/overview`);
  await save(dark, "console-dark.png");
  const phone = await visit({ service, browser, colorScheme: "dark", viewport: PHONE });
  await race(phone, SAMPLE_MODELS.slice(0, 1));
  await save(phone, "console-phone.png");
} finally {
  await browser.close();
  await service.stop();
}

async function administer(...[method, path, body]: Parameters<Administer>): ReturnType<Administer> {
  const response = await fetch(`${service.origin}/v1/organization${path}`, {
    method,
    headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.json();
}

/** Loads two local models, whose memory the overview shows. */
async function warmUp(): Promise<void> {
  const client = service.client();
  await client.embeddings.create({ model: "all-minilm-l6-v2", input: "Hello" });
  await client.moderations.create({ model: "moderation-minilm", input: "Hello" });
  for (const { id } of SAMPLE_MODELS) {
    await client.chat.completions.create({ model: id, messages: [{ role: "user", content: "Hello" }] });
  }
}

async function visit({ viewport, colorScheme }: Visit): Promise<Page> {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const { code } = await administer("POST", "/console_sign_in_codes");
  await page.goto(`${service.origin}/#/sign-in?code=${code}`);
  await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  return page;
}

/** Has models answer the question side by side. */
async function race(page: Page, models: readonly { id: string }[]): Promise<void> {
  const ids = models.map(({ id }) => id);
  const stored = JSON.stringify({ id: "picture", changedAt: 0, models: ids, parameters: {}, turns: [] });
  // The page of chats stores its conversation when it is left.
  await page.goto(`${service.origin}/#/requests`);
  await page.getByRole("heading", { name: "Requests" }).waitFor();
  await page.evaluate(`localStorage.setItem("parlance-conversation/picture", ${JSON.stringify(stored)})`);
  await page.goto(`${service.origin}/#/chat?c=picture`);
  await page
    .getByText(ids[0] ?? "", { exact: true })
    .first()
    .waitFor();
  const message = page.getByRole("textbox", { name: "Message", exact: true });
  await message.fill(QUESTION);
  await message.press("Enter");
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await page.getByRole("log").evaluate((element) => element.scrollTo(0, 0));
}

async function save(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(FOLDER, name) });
}
