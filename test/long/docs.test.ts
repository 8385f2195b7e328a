/** The documentation site: builds fail on what Vue only prints, and the service serves a complete one. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeViolations } from "../support/service/axe.ts";
import { hasChromium, launchChromium } from "../support/service/chromium.ts";
import { ROOT } from "../support/service/executable.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const run = promisify(execFile);
const SCRIPT = join(ROOT, "scripts/build-docs.mjs");
let service: ServiceProcess;

beforeAll(async () => {
  await run(process.execPath, [SCRIPT, "--if-stale"], { cwd: ROOT, timeout: 400_000 });
  service = await startServiceProcess();
}, 500_000);
afterAll(() => service?.stop());

test.each([
  ["a page", "# Page\n\nText.", true],
  ["a page whose rendering fails", "# Page\n\n{{ missing.field.of }}", false],
  ["a dead link", "# Page\n\n[link](nowhere.md)", false],
])("builds %s, or fails", async (_name, page, succeeds) => {
  // VitePress resolves Vue from the folder of the pages.
  const folder = await mkdtemp(join(ROOT, "node_modules/.cache/docs-"));
  try {
    await mkdir(join(folder, "docs"));
    await writeFile(join(folder, "docs", "index.md"), page);
    const build = run(process.execPath, [SCRIPT, `--source=${folder}/docs`, `--target=${folder}/built`], { cwd: ROOT });
    const code = await build.then(
      () => 0,
      (failure: { code: number }) => failure.code,
    );
    expect(code).toBe(succeeds ? 0 : 1);
    expect((await readdir(folder)).includes("built")).toBe(succeeds);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.runIf(hasChromium)("opens pages, searches without decision records, and violates no policy", async () => {
  const browser = await launchChromium();
  try {
    const page = await (await browser.newContext({ reducedMotion: "reduce" })).newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
    await page.goto(`${service.origin}/docs`);
    expect(new URL(page.url()).pathname).toBe("/docs/");
    await page.getByRole("link", { name: "Start in ten minutes" }).click();
    await page.getByRole("heading", { level: 1, name: /From nothing to a team/ }).waitFor();
    await page.goto(`${service.origin}/docs/how-to/receive-webhooks`);
    await page.getByRole("heading", { level: 1, name: /Receive webhooks/ }).waitFor();
    await page
      .getByRole("button", { name: /^Search/ })
      .first()
      .click();
    await page.getByPlaceholder("Search").fill("speaker labels");
    const results = page.locator("#localsearch-list a");
    await results.first().waitFor();
    const links = await results.evaluateAll((all) => all.map((link) => (link as unknown as { href: string }).href));
    expect(links.length).toBeGreaterThan(1);
    expect(links.filter((link) => link.includes("/decisions/"))).toEqual([]);
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
  }
});

/** One page of each kind: start, tutorial, instructions with code, explanation with tables, generated reference, record. */
const KINDS = [
  "",
  "tutorial/first-team",
  "how-to/receive-webhooks",
  "explanation/tools",
  "reference/cli",
  "decisions/0076-saved-chats",
];

test.runIf(hasChromium).each(["light", "dark"] as const)(
  "is accessible in the %s theme, also on a phone",
  async (colorScheme) => {
    const browser = await launchChromium();
    try {
      const context = await browser.newContext({ colorScheme, reducedMotion: "reduce" });
      const page = await context.newPage();
      for (const path of KINDS) {
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(`${service.origin}/docs/${path}`);
        await page.locator("h1").first().waitFor();
        expect([path, await violationsOn(page)]).toEqual([path, []]);
        await page.setViewportSize({ width: 390, height: 844 });
        expect([path, "phone", await violationsOn(page)]).toEqual([path, "phone", []]);
      }
      // VitePress names its search box and results by other texts than they show.
    } finally {
      await browser.close();
    }
  },
);

test("contains every page of the folder", async () => {
  const pages = (await readdir(join(ROOT, "docs/how-to"))).filter((name) => name.endsWith(".md"));
  for (const page of pages) {
    const response = await fetch(`${service.origin}/docs/how-to/${page.slice(0, -3)}`);
    expect([page, response.status]).toEqual([page, 200]);
  }
  const index = await readFile(join(ROOT, "dist-docs/index.html"), "utf8");
  expect(index).toContain("Your models, one API");
});

/** VitePress nests the caret of a group that collapses in the button of the group. */
async function violationsOn(page: Page): Promise<string[]> {
  const violations = await axeViolations(page);
  return violations.filter((each) => !/^nested-interactive: <div class="item" role="button"/.test(each));
}
