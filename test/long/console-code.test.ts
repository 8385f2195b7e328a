/** The code that the console shows for a request runs as copied: in a shell, in Python and in Node.js. */

import { execFile } from "node:child_process";
import { copyFile, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";
import { ROOT } from "../support/service/executable.ts";
import { hasPython, installPython } from "../support/service/python-environment.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const run = promisify(execFile);
const REQUIREMENT = "openai==2.54.0";
const LANGUAGES = ["curl", "Python", "TypeScript"] as const;
type Language = (typeof LANGUAGES)[number];

const CONFIG = `
local: { load: on_demand }
models:
  - id: echo
    task: chat
    deployments: [{ engine: scripted, echo: true }]
`;

describe.runIf(hasChromium && hasPython)("the code that the console shows", () => {
  let session: ConsoleSession;
  let folder: TemporaryDirectory;
  let python: string;
  let clipboard: Record<Language, string>;

  beforeAll(async () => {
    [session, python] = await Promise.all([startConsole(CONFIG), installPython("console-python", REQUIREMENT)]);
    folder = await temporaryDirectory();
    // Where Node.js finds the `openai` package.
    await symlink(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
    await copyFile("test/recordings/speech.mp3", join(folder.path, "recording.mp3"));
    const { page, service, context } = session;
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.origin });
    await page.goto(service.origin);
    await page.getByLabel("API key or admin key").fill(service.apiKey);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  }, 300_000);
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  /** Opens a page and waits for it: the page before has the same button. */
  async function openPage(title: string): Promise<void> {
    await session.open(`/${title.toLowerCase()}`);
    await session.page.getByRole("heading", { level: 1, name: title }).waitFor();
  }

  /** Copies the code of every language with the button beside it. */
  async function copyCode(): Promise<Record<Language, string>> {
    const { page } = session;
    await page.getByRole("button", { name: "Get code" }).click();
    const copied: Partial<Record<Language, string>> = {};
    for (const language of LANGUAGES) {
      await page.getByRole("tab", { name: language }).click();
      await page.getByRole("tabpanel").getByRole("button", { name: "Copy code" }).click();
      copied[language] = await page.evaluate<string>("navigator.clipboard.readText()");
    }
    await page.keyboard.press("Escape");
    return copied as Record<Language, string>;
  }

  /** Runs the copied code and resolves with its output. */
  async function outputOf(language: Language): Promise<string> {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, OPENAI_API_KEY: session.service.apiKey };
    const options = { cwd: folder.path, env, encoding: "utf8", maxBuffer: 1 << 26 } as const;
    const code = clipboard[language];
    if (language === "curl")
      return (await run("bash", ["-c", code.replace(/^curl /, "curl --fail-with-body -sS ")], options)).stdout;
    if (language === "Python") return (await run(join(python, "python"), ["-c", code], options)).stdout;
    const file = join(folder.path, "copied.mts");
    await writeFile(file, code);
    return (await run(process.execPath, [file], options)).stdout;
  }

  async function expectEach(match: RegExp): Promise<void> {
    for (const language of LANGUAGES) {
      expect([language, await outputOf(language)]).toEqual([language, expect.stringMatching(match)]);
    }
  }

  test("chats, with parameters that OpenAI's clients do not know", async () => {
    const { page, chatWith } = session;
    await chatWith("echo");
    await session.withParameters(async () => {
      await page.getByRole("button", { name: "More sampling parameters" }).click();
      await page.getByLabel("Top K").fill("5");
      await page.getByRole("spinbutton", { name: "Temperature" }).fill("0.5");
    });
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("It's “quoted” $HOME \\n");
    clipboard = await copyCode();
    expect(clipboard.curl).toContain('"top_k": 5');
    const words = /It's|quoted|\$HOME/;
    for (const language of ["Python", "TypeScript"] as const) {
      expect(await outputOf(language)).toContain("It's “quoted” $HOME \\n");
    }
    expect(await outputOf("curl")).toMatch(words);
  });

  test("transcribes", async () => {
    await openPage("Transcription");
    clipboard = await copyCode();
    await expectEach(/young man/i);
  });

  test("moderates", async () => {
    await openPage("Moderation");
    await session.page.getByLabel("Text", { exact: true }).fill("I will 'hurt' you");
    clipboard = await copyCode();
    await expectEach(/harassment/);
  });

  test("embeds", async () => {
    await openPage("Embeddings");
    clipboard = await copyCode();
    await expectEach(/^384\n$|"embedding"/);
    await session.page.getByText("Rerank", { exact: true }).click();
    clipboard = await copyCode();
    await expectEach(/^\d 0\.\d+|"relevance_score"/m);
  });

  test("speaks", async () => {
    await openPage("Speech");
    await session.page.getByRole("radio").first().waitFor();
    clipboard = await copyCode();
    for (const language of LANGUAGES) {
      const file = join(folder.path, "speech.mp3");
      await rm(file, { force: true });
      await outputOf(language);
      expect([language, (await readFile(file)).length]).toEqual([language, expect.toSatisfy((bytes) => bytes > 1000)]);
    }
  });
});
