/** Open WebUI's own page in Chromium. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/models/default-model.ts";
import { hasChromium, launchChromium } from "../support/service/chromium.ts";
import type { Service } from "../support/service/service.ts";
import { installPythonClients, PYTHON_SCRIPTS, pythonClientEnvironment } from "./python-clients.ts";
import { reportChecks } from "./report-checks.ts";
import { startClientsService, TOOLS_MODEL } from "./start-clients-service.ts";

const REQUIREMENTS = "requirements-open-webui.txt";
const VERSION = /^open-webui==(\S+)$/m.exec(readFileSync(join(PYTHON_SCRIPTS, REQUIREMENTS), "utf8"))?.[1] ?? "";

let service: Service;
let browser: Browser;
let openWebUi: ChildProcess;
let url: string;

beforeAll(async () => {
  service = await startClientsService();
  const interpreter = await installPythonClients(REQUIREMENTS);
  openWebUi = spawn(interpreter, [join(PYTHON_SCRIPTS, "open_webui_server.py")], {
    env: pythonClientEnvironment(service, DEFAULT_CHAT_MODEL),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: openWebUi.stdout as NonNullable<typeof openWebUi.stdout> });
  [url] = (await once(lines, "line")) as [string];
  if (hasChromium) browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  const ended = openWebUi === undefined ? undefined : once(openWebUi, "exit");
  openWebUi?.stdin?.end();
  await ended;
  await service?.stop();
});

reportChecks(() => VERSION);

describe.skipIf(!hasChromium)("open-webui in Chromium", () => {
  test("chats in its page", async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/?models=${TOOLS_MODEL}`);
    await page.getByText("Okay, Let's Go!").click({ timeout: 60_000 });
    await page.locator("#chat-input").pressSequentially("Echo this page.");
    await page.keyboard.press("Enter");
    await page.locator(".chat-assistant").first().getByText("Echo this page.").waitFor({ timeout: 60_000 });
    const chats = service.log().filter(({ path, model }) => path === "/v1/chat/completions" && model === TOOLS_MODEL);
    expect(chats.map(({ status }) => status)).toContain(200);
  });
});
