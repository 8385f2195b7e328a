/**
 * `npm run images`: writes docs/images, the console's pages with sample data, light, dark and on a phone.
 * `npm run images -- chat speech` writes those of some pages.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { launchChromium } from "../../test/support/service/chromium.ts";
import { ROOT, SOURCE_EXECUTABLE } from "../../test/support/service/executable.ts";
import { type ServiceProcess, startServiceProcess } from "../../test/support/service/service-process.ts";
import { administer, batch, meeting, question, sampleConfig, seed } from "./sample-data.ts";
import { fillMonth } from "./sample-month.ts";
import { seedWork } from "./sample-work.ts";

interface Shot {
  name: string;
  path: string;
  /** What is done before the picture. */
  act?: (page: Page) => Promise<void>;
}

interface Look {
  name: string;
  colorScheme: "light" | "dark";
  width: number;
  height: number;
}

const FOLDER = join(ROOT, "docs/images");
const MAX_BYTES = 300_000;
const LOOKS: readonly Look[] = [
  { name: "light", colorScheme: "light", width: 1280, height: 800 },
  { name: "dark", colorScheme: "dark", width: 1280, height: 800 },
  { name: "phone", colorScheme: "light", width: 390, height: 844 },
];
const SETTLE_MS = 900;

function shotsOf(
  service: ServiceProcess,
  pages: Awaited<ReturnType<typeof seedWork>>,
  request: string,
  recording: Buffer,
): Shot[] {
  return [
    { name: "chat", path: "/overview", act: race },
    { name: "talk", path: "/talk", act: talk },
    { name: "request", path: `/requests/${request}` },
    { name: "requests", path: "/requests" },
    { name: "overview", path: "/overview" },
    { name: "library", path: "/models?view=library" },
    { name: "studio", path: "/transcription?model=meeting-notes", act: (page) => transcribe(page, recording) },
    { name: "speech", path: "/speech", act: hear },
    { name: "batches", path: "/batches", act: (page) => runBatch(page, service) },
    { name: "webhooks", path: "/webhooks" },
    { name: "mcp", path: "/mcp" },
    { name: "approval", path: "/overview", act: approve },
    { name: "images", path: "/images", act: paint },
    { name: "prompts", path: pages.prompt },
    { name: "evals", path: pages.evaluation },
    { name: "stores", path: pages.store, act: searchStore },
  ];
}

/** A batch that runs, beside one that has ended. */
async function runBatch(page: Page, service: ServiceProcess): Promise<void> {
  const description = "Summaries of the archive";
  await batch(service, description, 600);
  await page.reload();
  await page.getByRole("article", { name: description }).first().waitFor();
}

/** Two models answer the same question. */
async function race(page: Page): Promise<void> {
  await ask(page, { id: "race", models: ["atlas-70b", "swift-8b"] }, "How do I limit requests per client?");
}

/** A model has searched the wiki, and waits until it may read a page. */
async function approve(page: Page): Promise<void> {
  const parameters = { mcpServers: ["wiki"], allowedTools: [{ server: "wiki", tool: "search_pages" }] };
  await ask(page, { id: "approval", models: ["support-agent"], parameters }, "How late may I ask for a refund?");
  await page.getByRole("button", { name: "Details" }).click();
  await page.getByRole("button", { name: "Approve", exact: true }).scrollIntoViewIfNeeded();
}

interface Asked {
  id: string;
  models: readonly [string, ...string[]];
  parameters?: object;
}

/** Asks in a conversation that the browser stores. */
async function ask(page: Page, { id, models, parameters = {} }: Asked, text: string): Promise<void> {
  const conversation = JSON.stringify({ id, changedAt: Date.now(), models, parameters, turns: [] });
  const stored = { [`parlance-conversation/${id}`]: conversation, "parlance-open-conversation": id };
  const { origin } = new URL(page.url());
  // A page that is left stores its conversation, and removes others without a question.
  await page.goto("about:blank");
  await page.addInitScript(`Object.assign(localStorage, ${JSON.stringify(stored)})`);
  await page.goto(`${origin}/#/chat?c=${id}`);
  await page.locator("#main").getByText(models[0]).first().waitFor();
  await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
}

/** The fake microphone asks a question again and again. */
async function talk(page: Page): Promise<void> {
  for (const [list, option] of [
    ["Model", "team-chat"],
    ["Hears with", "keen-ear"],
  ] as const) {
    await page.getByRole("combobox", { name: list, exact: true }).click();
    await page.getByRole("option", { name: option, exact: true }).click();
  }
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.getByRole("log", { name: "Captions" }).getByTestId("stages").first().waitFor();
}

/** A few voices say the same sentence. */
async function hear(page: Page): Promise<void> {
  for (const voice of ["heart", "alloy", "ash"]) {
    await page.getByRole("button", { name: `Listen to ${voice}` }).click();
    await page.getByRole("button", { name: `Stop the sample of ${voice}` }).click();
  }
}

async function paint(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Prompt" }).fill("Two colors of an evening sky, without clouds");
  await page.getByRole("textbox", { name: "Images" }).fill("4");
  await page.getByRole("button", { name: "Generate" }).click();
  await page.getByText("4 images in").waitFor();
  await page.evaluate("scrollTo(0, 0)");
}

async function searchStore(page: Page): Promise<void> {
  await page.getByLabel("Search the store").fill("When does a customer get the money back?");
  await page.keyboard.press("Enter");
  await page.getByLabel("Score of result 1").waitFor();
}

async function transcribe(page: Page, buffer: Buffer): Promise<void> {
  const file = { name: "release-meeting.wav", mimeType: "audio/wav", buffer };
  await page.locator("input[type=file]").first().setInputFiles(file);
  await page.getByRole("button", { name: "Transcribe" }).click();
  await page.getByRole("button", { name: "Copy text" }).waitFor();
  for (const [label, name] of [
    ["Speaker A", "Ada"],
    ["Speaker B", "Ben"],
  ] as const) {
    await page
      .getByRole("button", { name: new RegExp(`^${label}`) })
      .first()
      .click();
    await page.getByLabel("Name of the speaker").fill(name);
    await page.getByRole("button", { name: "Rename everywhere" }).click();
  }
  await page.locator("[data-word]", { hasText: "stable" }).click();
  await page.locator("[data-lit]").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.evaluate("scrollTo(0, 0)");
}

async function take(browser: Browser, service: ServiceProcess, look: Look, shots: readonly Shot[]): Promise<void> {
  const { colorScheme, width, height } = look;
  const viewport = { width, height };
  const scale = { deviceScaleFactor: look.name === "phone" ? 1.5 : 1.25 };
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce", ...scale });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const { code } = await administer(service, "POST", "/console_sign_in_codes");
  await page.goto(`${service.origin}/#/sign-in?code=${code}`);
  await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  for (const { name, path, act } of shots) {
    await page.goto(`${service.origin}/#${path}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await act?.(page);
    await page.mouse.move(0, 0);
    await page.waitForTimeout(SETTLE_MS);
    if ((await page.getByText("This could not be shown").count()) > 0) throw new Error(`${name} shows an error.`);
    const colors = { palette: true, quality: 90, compressionLevel: 9, effort: 10 } as const;
    const image = await sharp(await page.screenshot())
      .png(colors)
      .toBuffer();
    if (image.length > MAX_BYTES)
      throw new Error(`${name}-${look.name} has ${image.length} bytes, above ${MAX_BYTES}.`);
    await writeFile(join(FOLDER, `${name}-${look.name}.png`), image);
    console.log(`${name}-${look.name}.png ${image.length}`);
  }
  await context.close();
}

/** A limit in dollars. */
const monthly = (dollars: number) => ({
  threshold_amount: 100 * dollars,
  currency: "USD",
  interval: "month",
  enforcement: { status: "inactive" },
});

await mkdir(FOLDER, { recursive: true });
await using cleanup = new AsyncDisposableStack();
let deliveries = 0;
const receiver = createServer((incoming, response) => {
  incoming.resume();
  deliveries += 1;
  response.writeHead(deliveries % 4 === 0 ? 503 : 200, { "content-type": "application/json" });
  response.end(deliveries % 4 === 0 ? '{"error":"maintenance until 12:00"}' : '{"received":true}');
});
await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
cleanup.defer(() => void receiver.close());
const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const service = await startServiceProcess({ config: sampleConfig(webhook), executable: SOURCE_EXECUTABLE });
cleanup.defer(async () => void (await service.stop()));
const pages = await seedWork(service);
const request = await seed(service, webhook);
fillMonth(service.dataDirectory);
await administer(service, "POST", "/spend_limit", monthly(120));
const { data: projects } = await administer(service, "GET", "/projects");
await administer(service, "POST", `/projects/${projects[0].id}/spend_limit`, monthly(80));
const recording = await meeting(service);
const microphone = join(service.dataDirectory, "microphone.wav");
await writeFile(microphone, await question(service));
const browser = await launchChromium([
  "--use-fake-ui-for-media-stream",
  "--use-fake-device-for-media-stream",
  `--use-file-for-fake-audio-capture=${microphone}`,
  "--autoplay-policy=no-user-gesture-required",
]);
cleanup.defer(() => browser.close());
const names = process.argv.slice(2);
const shots = shotsOf(service, pages, request, recording).filter(
  ({ name }) => names.length === 0 || names.includes(name),
);
for (const look of LOOKS) await take(browser, service, look, shots);
