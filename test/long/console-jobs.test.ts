/** Batches, files, webhooks, images and the transcription studio of the console. */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { toWav } from "@parlance-inference/audio/encode-pcm";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const configOf = (upstream: string) => `
builtin_models: false
models:
  - id: deaf
    task: transcription
    deployments: [{ engine: openai-compatible, base_url: "${upstream}/v1", model: deaf }]
  - id: scribe
    task: transcription
    deployments: [{ engine: scripted, replies: [{ text: "Shall we begin? Yes, let us begin." }] }]
  - id: labeler
    task: chat
    deployments:
      - engine: scripted
        replies:
          - { match: bad, fail_after_tokens: 0, fail_with: { kind: invalid-request, message: "This ticket is empty." } }
          - { text: Refund }
  - { id: painter, task: image, deployments: [{ engine: openai-compatible, base_url: "${upstream}/v1", model: slow }] }
`;

const lineOf = (id: number, content: string) =>
  JSON.stringify({
    ...{ custom_id: `row-${id}`, method: "POST", url: "/v1/chat/completions" },
    body: { model: "labeler", messages: [{ role: "user", content }] },
  });

describe.runIf(hasChromium)("the console's jobs", () => {
  const cleanup = new AsyncDisposableStack();
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  let session: ConsoleSession;
  let receiver: string;
  let status = 200;
  /** Requests to the upstream that never answers. */
  let running = 0;

  beforeAll(async () => {
    const server = createServer(async (request, response) => {
      if (request.url?.startsWith("/v1/")) {
        running += 1;
        response.once("close", () => {
          running -= 1;
        });
        request.resume();
        return;
      }
      received.push({ headers: request.headers, body: await text(request) });
      response.writeHead(status).end("noted");
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    cleanup.defer(() => void server.close());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    receiver = `${origin}/events`;
    session = cleanup.use(await startConsole(configOf(origin), { hears: false }));
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => cleanup.disposeAsync());

  const expectAccessible = async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      await session.page.emulateMedia({ colorScheme });
      await session.expectAccessible();
    }
  };

  test("creates a batch from a file, shows its progress and errors, and downloads its results", async () => {
    const { page, open, download } = session;
    await open("/batches");
    await page.getByText("No batches yet").waitFor();
    await page.getByRole("button", { name: "New batch" }).click();
    const buffer = Buffer.from([lineOf(1, "late"), lineOf(2, "bad"), lineOf(3, "broken")].join("\n"));
    await page.locator("input[type=file]").setInputFiles({ name: "tickets.jsonl", mimeType: "text/plain", buffer });
    await page.getByText("3 requests").waitFor();
    await page.getByLabel("Description").fill("Label tickets");
    await page.getByRole("button", { name: "Create batch" }).click();
    const card = page.getByRole("article", { name: "Label tickets" });
    await card.getByText("Completed").waitFor();
    expect(await card.getByText("1 failed").count()).toBe(1);
    expect((await card.textContent())?.match(/batch_/g)).toHaveLength(1);
    await card.getByRole("button", { name: "Show errors" }).click();
    await card.getByText("This ticket is empty.").waitFor();
    await expectAccessible();
    const { name, content } = await download(() => card.getByRole("button", { name: "Results" }).click());
    expect(name).toMatch(/^batch_\w+-results\.jsonl$/);
    const ids = content.toString().trim().split("\n");
    expect(ids.map((line) => JSON.parse(line).custom_id).sort()).toEqual(["row-1", "row-3"]);
  });

  test("uploads, filters, downloads and deletes files", async () => {
    const { page, open, pick, download } = session;
    await open("/files");
    await page.getByRole("cell", { name: /tickets\.jsonl/ }).waitFor();
    await page.getByRole("button", { name: "Upload" }).click();
    const dialog = page.getByRole("dialog", { name: "Upload files" });
    const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Hello") };
    await page.locator("input[type=file]").setInputFiles(file);
    await pick("Expires after", "1 day");
    await dialog.getByRole("button", { name: "Upload" }).click();
    await page.getByRole("cell", { name: /notes\.txt/ }).waitFor();
    await expectAccessible();
    await page.getByLabel("Search files").fill("notes");
    await page.getByRole("cell", { name: /tickets\.jsonl/ }).waitFor({ state: "detached" });
    const row = page.getByRole("row", { name: /notes\.txt/ });
    expect(await row.textContent()).toMatch(/Documents for chats.*in 24 hours/);
    const saved = await download(() => row.getByRole("button", { name: "Download" }).click());
    expect([saved.name, saved.content.toString()]).toEqual(["notes.txt", "Hello"]);
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No file matches").waitFor();
  });

  test("adds a webhook, whose secret is shown once, tests it, and sends a refused event again", async () => {
    const { page, open } = session;
    await open("/webhooks");
    await page.getByText("No endpoints yet").waitFor();
    await page.getByRole("button", { name: "New endpoint" }).click();
    await page.getByLabel("URL").fill(receiver);
    await expectAccessible();
    await page.getByRole("button", { name: "Add endpoint" }).click();
    const secret = (await page.getByTestId("secret").textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    const card = page.getByRole("article", { name: receiver });
    status = 410;
    await card.getByRole("button", { name: "Send a test" }).click();
    const delivery = page.getByRole("list", { name: "Deliveries" }).getByRole("button").first();
    await delivery.click();
    await page.getByText("Failed", { exact: true }).first().waitFor();
    await page.getByText("Answer 410").waitFor();
    await page.getByText("noted").waitFor();
    await expectAccessible();
    status = 200;
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText("Answer 200").waitFor();
    const [first, second] = received;
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    const event = new Webhook(secret).verify(second?.body ?? "", second?.headers as Record<string, string>);
    expect(event).toMatchObject({ type: "webhook.test" });
    await card.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No endpoints yet").waitFor();
  });

  test("transcribes with speakers, renames one, edits a passage, lights words, and exports both", async () => {
    const { page, open, download } = session;
    await open("/transcription");
    const tone = Float32Array.from({ length: 8 * 16_000 }, (_, index) => 0.4 * Math.sin(index / 8));
    const file = { name: "meeting.wav", mimeType: "audio/wav", buffer: Buffer.from(toWav(tone, 16_000)) };
    await session.pick("Model", "scribe");
    await page.locator("input[type=file]").first().setInputFiles(file);
    await page.getByRole("button", { name: "Transcribe" }).click();
    await page.getByRole("button", { name: "Copy text" }).waitFor();
    await page.getByRole("button", { name: "Speaker A 50 %" }).click();
    await page.getByLabel("Name of the speaker").fill("Ada");
    await page.getByRole("button", { name: "Rename everywhere" }).click();
    await page.getByRole("button", { name: "Edit the passage at 0:04" }).click();
    await page.getByLabel("Text of the passage").fill("Yes, we begin.");
    await page.keyboard.press("Enter");
    await page.getByText("we", { exact: true }).last().click();
    await page.locator("[data-lit]").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    // A tooltip is beside the landmarks.
    await page.mouse.move(0, 0);
    await page.getByRole("tooltip").waitFor({ state: "detached" });
    await expectAccessible();
    const { name, content } = await download(() => page.getByRole("button", { name: "txt", exact: true }).click());
    expect([name, content.toString()]).toEqual(["meeting.txt", "Ada: Shall we begin?\n\nSpeaker B: Yes, we begin.\n"]);
    // The studio keeps what it has while another page is shown.
    await open("/files");
    await page.getByRole("heading", { name: "Files" }).waitFor();
    await open("/transcription");
    await page.getByText("Yes,").waitFor();
  });

  test("stops an image when it is cancelled, and when its page is left", async () => {
    const { page, open } = session;
    await open("/images");
    const cancel = () => page.getByRole("button", { name: "Cancel", exact: true }).click();
    for (const stop of [cancel, () => open("/files")]) {
      await page.getByRole("button", { name: "Generate" }).click();
      await expect.poll(() => running).toBe(1);
      await stop();
      await expect.poll(() => running).toBe(0);
      expect(await page.getByRole("alert").count()).toBe(0);
    }
  });

  test("stops the transcription of an attached recording when it is cancelled, and when the page is left", async () => {
    const { page, open } = session;
    await session.chatWith("labeler");
    const cancel = () => page.getByRole("button", { name: "Cancel speech.wav" }).click();
    for (const stop of [cancel, () => open("/files")]) {
      await page.locator("input[type=file]").setInputFiles("test/recordings/speech.wav");
      await page.getByText("Reading speech.wav…").waitFor();
      await expect.poll(() => running).toBe(1);
      await stop();
      await expect.poll(() => running).toBe(0);
      expect(await page.getByRole("alert").count()).toBe(0);
    }
  });

  test("leaves no error in the browser's console", () => {
    expect(session.complaints).toEqual([]);
  });
});
