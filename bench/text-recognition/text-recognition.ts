/**
 * Errors and CPU time of text recognition on rendered pages: `node bench/text-recognition/text-recognition.ts FOLDER`.
 *
 * FOLDER has `detector.onnx` and `recognizer.onnx`. Each page is rendered by Chromium as a sharp scan of 200 dots an inch, as
 * one of 110 with noise, blur and a slope of 1.5°, and in two columns. Beside it Tesseract, where it is installed.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type Pixels, TextRecognizer } from "@parlance-inference/text-recognition/text-recognizer";
import { distance } from "fastest-levenshtein";
import { chromium } from "playwright-core";
import sharp from "sharp";
import { PAGES, type PrintedPage } from "./pages.ts";

const [folder = "."] = process.argv.slice(2);
const SCANS = {
  sharp: { dots: 200, columns: 1, degrades: false },
  poor: { dots: 110, columns: 1, degrades: true },
  columns: { dots: 200, columns: 2, degrades: false },
};
/** Names of its language data. */
const TESSERACT_NAMES: Readonly<Record<string, string>> = {
  ...{ en: "eng", de: "deu", fr: "fra", es: "spa", zh: "chi_sim", ja: "jpn" },
};
const INCHES = [8.27, 11.69] as const;

const recognizer = await TextRecognizer.open(
  { detector: join(folder, "detector.onnx"), recognizer: join(folder, "recognizer.onnx") },
  1,
);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium" });
const hasTesseract = spawnSync("tesseract", ["--version"]).status === 0;
console.log(`language  scan      PP-OCRv6   CPU s${hasTesseract ? "   Tesseract   CPU s" : ""}`);
for (const page of PAGES) {
  for (const [name, scan] of Object.entries(SCANS)) {
    const image = await rendered(page, scan);
    const before = process.cpuUsage();
    const text = await recognizer.read(image);
    const { user, system } = process.cpuUsage(before);
    const cells = [cell(page, text, (user + system) / 1e6), ...(hasTesseract ? [await tesseract(page, image)] : [])];
    console.log(`${page.language.padEnd(10)}${name.padEnd(9)}${cells.join("")}`);
  }
}
await browser.close();

async function rendered({ language, paragraphs }: PrintedPage, scan: (typeof SCANS)["sharp"]) {
  const [width, height] = INCHES.map((inches) => Math.round(inches * 96)) as [number, number];
  const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: scan.dots / 96 });
  const style = `margin: 90px 80px; font: 15px/1.45 "DejaVu Serif", serif; columns: ${scan.columns}; column-gap: 40px`;
  await page.setContent(
    `<body lang="${language}" style='${style}'>${paragraphs.map((text) => `<p>${text}</p>`).join("")}</body>`,
  );
  const png = await page.screenshot();
  await page.close();
  let image = sharp(png).removeAlpha();
  if (scan.degrades) {
    const sloped = await image.rotate(1.5, { background: "#fff" }).blur(0.6).toBuffer({ resolveWithObject: true });
    const { width, height } = sloped.info;
    const noise = { type: "gaussian", mean: 128, sigma: 14 } as const;
    const grain = await sharp({ create: { width, height, channels: 3, background: "#888", noise } })
      .png()
      .toBuffer();
    image = sharp(sloped.data)
      .composite([{ input: grain, blend: "soft-light" }])
      .removeAlpha();
  }
  const { data, info } = await image
    .jpeg({ quality: 70 })
    .toBuffer()
    .then((bytes) => sharp(bytes).raw().toBuffer({ resolveWithObject: true }));
  return { data: new Uint8Array(data), width: info.width, height: info.height };
}

/** Share of the characters that are wrong, without spaces and line ends. */
function cell({ paragraphs }: PrintedPage, text: string, seconds: number): string {
  const [wanted, found] = [paragraphs.join(""), text].map((each) => each.replace(/\s+/g, "")) as [string, string];
  const errors = distance(wanted, found) / wanted.length;
  return `${(100 * errors).toFixed(1).padStart(8)} %${seconds.toFixed(1).padStart(8)}`;
}

async function tesseract(page: PrintedPage, { data, ...raw }: Pixels): Promise<string> {
  const png = await sharp(data, { raw: { ...raw, channels: 3 } })
    .png()
    .toBuffer();
  const args = [
    "-c",
    'TIMEFORMAT="%U %S"; time tesseract - - -l "$1" 2>/dev/null',
    "sh",
    TESSERACT_NAMES[page.language] ?? "",
  ];
  const { stdout, stderr } = spawnSync("bash", args, { input: png, env: { ...process.env, OMP_THREAD_LIMIT: "1" } });
  const seconds = String(stderr)
    .trim()
    .split(" ")
    .map(Number)
    .reduce((sum, each) => sum + each, 0);
  return cell(page, String(stdout), seconds);
}
