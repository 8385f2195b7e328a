import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { ConsoleSession } from "../../support/service/console-session.ts";

/** First bytes of each format's files. */
const MAGIC: Readonly<Record<string, RegExp>> = {
  mp3: /^(ID3|\xff[\xe2-\xfb])/,
  opus: /^OggS/,
  aac: /^\xff[\xf0-\xf9]/,
  flac: /^fLaC/,
  wav: /^RIFF....WAVE/s,
};

const SPEECH = "test/recordings/speech.mp3";

/** Speech and transcription: what is heard, recorded, dropped and downloaded. */
export function audioCases(session: () => ConsoleSession): void {
  test("transcribes a recording of the microphone", async () => {
    const { open, page } = session();
    await open("/transcription");
    await page.getByRole("button", { name: "Record", exact: true }).click();
    await page.waitForTimeout(3500);
    await page.getByRole("button", { name: "Stop recording" }).click();
    await page.getByRole("button", { name: "Transcribe" }).click();
    await page.getByRole("button", { name: "Copy text" }).waitFor();
    expect(await page.getByTestId("transcript").textContent()).toMatch(/quick|brown|fox|lazy|dog/i);
  });

  test("talks with a model, captions both, times the stages, and can be interrupted", async () => {
    const { open, page, pick, expectAccessible } = session();
    await open("/talk");
    // The page before has a list of models, too.
    await page.getByRole("heading", { name: "Talk", exact: true }).waitFor();
    await pick("Model", "echo");
    await page.getByRole("button", { name: "Start talking" }).click();
    const captions = page.getByRole("log", { name: "Captions" });
    await captions.getByTestId("stages").first().waitFor();
    const said = (speaker: string) => captions.locator(`[data-speaker="${speaker}"]`).first().textContent();
    expect(await said("user")).toMatch(/quick|brown|fox|lazy|dog/i);
    expect(await said("assistant")).toMatch(/quick|brown|fox|lazy|dog/i);
    expect(await captions.getByTestId("stages").first().textContent()).toMatch(
      /^hear .+ · think .+ · speak .+ · first sound after .+$/,
    );
    await expectAccessible();
    await page.getByRole("button", { name: "Stop talking" }).click();
    await page.getByText("Press to talk").waitFor();

    await pick("Model", "talkative");
    await page.getByRole("button", { name: "Start talking" }).click();
    await captions.getByText("interrupted").first().waitFor();
    await page.getByRole("button", { name: "Stop talking" }).click();
  });

  test("transcribes a dropped file, plays from a time, and downloads its text and subtitles", async () => {
    const { open, page, download } = session();
    await open("/transcription");
    const bytes = (await readFile(SPEECH)).toString("base64");
    const transfer = await page.evaluateHandle(
      `(async () => {
        const transfer = new DataTransfer();
        const bytes = Uint8Array.from(atob("${bytes}"), (letter) => letter.charCodeAt(0));
        transfer.items.add(new File([bytes], "dropped.mp3", { type: "audio/mpeg" }));
        return transfer;
      })()`,
    );
    const zone = page.locator(".drop-zone");
    await zone.dispatchEvent("dragover", { dataTransfer: transfer });
    await zone.dispatchEvent("drop", { dataTransfer: transfer });
    await page.getByText("dropped.mp3").waitFor();
    await page.getByRole("button", { name: "Transcribe" }).click();
    await page.getByRole("button", { name: "Copy text" }).waitFor();
    const text = (await page.getByTestId("transcript").locator(".segment-text").allTextContents()).join(" ").trim();
    expect(text).toMatch(/young man/i);

    await page.getByTestId("transcript").getByRole("button", { name: "Play from" }).last().click();
    const audio = page.locator("audio");
    await expect
      .poll(() => audio.evaluate((element) => (element as { currentTime?: number }).currentTime))
      .toBeGreaterThan(0);

    const fileOf = async (format: string) => {
      const file = await download(() => page.getByRole("button", { name: format, exact: true }).click());
      expect(file.name).toBe(`dropped.${format}`);
      return file.content.toString();
    };
    expect((await fileOf("txt")).trim()).toBe(text);
    expect(await fileOf("docx")).toMatch(/^PK/);
    expect(await fileOf("srt")).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n.+\n/);
    expect(await fileOf("vtt")).toMatch(/^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n.+\n/);
    const json = JSON.parse(await fileOf("json")) as { text: string; segments: { start: number; end: number }[] };
    expect(json.text.trim()).toBe(text);
    for (const { start, end } of json.segments) expect(end).toBeGreaterThan(start);
  });

  test("downloads speech in each format", async () => {
    const { open, page, pick, download } = session();
    await open("/speech");
    await page.getByLabel("Text", { exact: true }).fill("Hello.");
    for (const [format, magic] of Object.entries(MAGIC)) {
      await pick("Format", format);
      await page.getByRole("button", { name: "Speak" }).click();
      const link = page.getByRole("link", { name: "Download", exact: true });
      await page.locator(`a[download="speech.${format}"]`).waitFor();
      const { name, content } = await download(() => link.click());
      expect(name).toBe(`speech.${format}`);
      expect([format, content.subarray(0, 16).toString("latin1")]).toEqual([format, expect.stringMatching(magic)]);
      expect(content.length).toBeGreaterThan(1000);
    }
  });
}
