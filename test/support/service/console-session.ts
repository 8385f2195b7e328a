/** A signed-in page of the console in Chromium, against a real service with the default models. */

import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toWav } from "@parlance-inference/audio/encode-pcm";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import { HubServer } from "../models/hub-server.ts";
import { axeViolations } from "./axe.ts";
import { launchChromium } from "./chromium.ts";
import { ROOT } from "./executable.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

export interface ConsoleSession extends AsyncDisposable {
  service: ServiceProcess;
  browser: Browser;
  context: BrowserContext;
  page: Page;
  /** Where the service downloads models that are not in the store. */
  hub: HubServer;
  /** Errors of the browser, such as violations of the content security policy. */
  complaints: string[];
  open(path: string): Promise<unknown>;
  /** Chooses an option of a list. */
  pick(list: string, option: string): Promise<void>;
  /** Sends a chat message and waits for the end of the answers. */
  ask(text: string): Promise<void>;
  /** Starts a conversation with these models. */
  chatWith(...models: string[]): Promise<void>;
  /** Opens the drawer with the parameters of the chat, and closes it after `set`. */
  withParameters(set: () => Promise<unknown>): Promise<void>;
  /** Creates a link that signs in once with the operator's keys, as `parlance console` does. */
  signInLink(): Promise<string>;
  /** Calls the administration API as an administrator. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  admin(method: string, path: string, body?: unknown): Promise<any>;
  /** Clicks what starts a download, and resolves with the file. */
  download(click: () => Promise<unknown>): Promise<{ name: string; content: Buffer }>;
  expectAccessible(): Promise<void>;
}

/** What the microphone hears, again and again. */
const SPOKEN = "The quick brown fox jumps over the lazy dog.";
/** Silence after it, which ends a turn. */
const PAUSE_SECONDS = 4;
const SAMPLE_RATE = 24_000;

/** `hears`: whether the microphone hears `SPOKEN`, for which the configuration must have the default voices. */
export async function startConsole(config: string, { hears = true } = {}): Promise<ConsoleSession> {
  const hub = await HubServer.start();
  const models = await linkModels();
  const service = await startServiceProcess({
    config,
    environment: { PARLANCE_MODELS_DIR: models, HF_ENDPOINT: hub.endpoint },
  });
  const microphone = join(models, "microphone.wav");
  if (hears) await writeFile(microphone, await speak(service));
  const browser = await launchChromium([
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    ...(hears ? [`--use-file-for-fake-audio-capture=${microphone}`] : []),
  ]);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Chromium reports every refused request: that a limit is reached.
    if (message.type() !== "error" || message.text().includes("status of 429")) return;
    complaints.push(`${message.text()} (${message.location().url})`);
  });
  const open = (path: string) => page.goto(`${service.origin}/#${path}`);
  const admin: ConsoleSession["admin"] = async (method, path, body) => {
    const response = await fetch(`${service.origin}/v1/organization${path}`, {
      method,
      headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.json();
  };
  return {
    service,
    browser,
    context,
    page,
    hub,
    complaints,
    open,
    async pick(list, option) {
      await page.getByRole("combobox", { name: list, exact: true }).click();
      await page.getByRole("option", { name: option, exact: true }).click();
    },
    async ask(text) {
      await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: 60_000 });
    },
    async chatWith(...wanted) {
      await open("/overview");
      // The page of chats stores its conversation when it is left.
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      const id = wanted.join("-");
      const conversation = JSON.stringify({ id, changedAt: Date.now(), models: wanted, parameters: {}, turns: [] });
      const stored = { [`parlance-conversation/${id}`]: conversation, "parlance-open-conversation": id };
      await page.evaluate(`Object.assign(localStorage, ${JSON.stringify(stored)})`);
      await open("/chat");
      await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    },
    async withParameters(set) {
      await page.getByRole("button", { name: /^Parameters/ }).click();
      const drawer = page.getByRole("dialog", { name: "Parameters" });
      await drawer.waitFor();
      await set();
      await drawer.getByRole("button", { name: "Close" }).click();
      await drawer.waitFor({ state: "detached" });
    },
    async signInLink() {
      const { code } = await admin("POST", "/console_sign_in_codes");
      return `${service.origin}/#/sign-in?code=${code}`;
    },
    admin,
    async download(click) {
      const started = page.waitForEvent("download");
      await click();
      const file = await started;
      const chunks: Buffer[] = [];
      for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
      return { name: file.suggestedFilename(), content: Buffer.concat(chunks) };
    },
    expectAccessible: async () => expect(await axeViolations(page)).toEqual([]),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await service.stop();
      await hub[Symbol.asyncDispose]();
      await rm(models, { recursive: true, force: true });
    },
  };
}

/** A models directory with the fetched models, which what a test pulls does not get into. */
async function linkModels(): Promise<string> {
  const fetched = process.env.PARLANCE_MODELS_DIR ?? join(ROOT, ".parlance", "models");
  const directory = await mkdtemp(join(tmpdir(), "parlance-models-"));
  for (const name of await readdir(fetched)) await symlink(join(fetched, name), join(directory, name));
  return directory;
}

async function speak(service: ServiceProcess): Promise<Buffer> {
  const body = { model: "hibari", voice: "alloy", input: SPOKEN, response_format: "pcm" };
  const response = await service.post("/v1/audio/speech", body);
  expect(response.status).toBe(200);
  const pcm = new Int16Array(await response.arrayBuffer());
  const samples = new Float32Array(pcm.length + PAUSE_SECONDS * SAMPLE_RATE);
  for (const [at, sample] of pcm.entries()) samples[at] = sample / 0x8000;
  return Buffer.from(toWav(samples, SAMPLE_RATE));
}
