import { expect, test } from "vitest";
import { docx, pdf, pptx, xlsx, zip } from "../../../test/support/vector-stores/sample-documents.ts";
import { chunkText } from "./chunk-text.ts";
import { readDocument } from "./document-reader.ts";

const CHUNKING = { maxTokens: 100, overlapTokens: 20 };
const never = new AbortController().signal;

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function textOf(content: Buffer | string, filename: string): Promise<string> {
  const chunks = readDocument(once(Buffer.from(content)), { filename, chunking: CHUNKING, cpuSeconds: 20 }, never);
  return (await Array.fromAsync(chunks)).map(({ text }) => text).join("\n---\n");
}

test.each([
  ["a PDF", pdf("Tides on page one.", "Moon on page two."), "a.pdf", "Tides on page one.\n\nMoon on page two."],
  ["DOCX", docx("First paragraph.", "Salt &amp; water."), "a.docx", "First paragraph.\nSalt & water."],
  ["PPTX in the order of its slides", pptx(..."abcdefghijk"), "a.pptx", [..."abcdefghijk"].join("\n\n")],
  ["XLSX", xlsx(["Item", "Price"], ["Boat", "12"]), "a.xlsx", "# Prices\n\nItem\tPrice\nBoat\t12"],
  [
    "HTML without scripts",
    "<!doctype html><title>Sea</title><style>p{}</style><h2>Tides</h2><script>steal()</script><p>High &amp; low</p>",
    "a.html",
    "Sea\n\n## Tides\n\nHigh & low",
  ],
  ["Markdown", "# Title\n\nText", "a.md", "# Title\n\nText"],
  ["UTF-16", Buffer.from("\ufeffGrüße", "utf16le"), "a.txt", "Grüße"],
  ["Windows-1252", Buffer.from("Gr\xfc\xdfe", "latin1"), "a.txt", "Grüße"],
  ["text with control characters", "a\u0007b\r\n\r\n\r\n\r\nc  ", "a.log", "a b\n\nc"],
])("reads %s", async (_name, content, filename, text) => {
  expect(await textOf(content, filename)).toBe(text);
});

test.each([
  ["an image", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "unsupported_file", "PNG"],
  ["an old Word file", Buffer.from("\xd0\xcf\x11\xe0", "latin1"), "unsupported_file", "DOCX"],
  ["an archive that is no document", zip({ "a.txt": "a" }), "unsupported_file", "not a DOCX"],
  ["a damaged archive", Buffer.from("PK\x03\x04 nothing"), "invalid_file", "damaged"],
  ["a damaged PDF", "%PDF-1.4 nothing", "invalid_file", "damaged"],
  ["an empty file", "  \n ", "invalid_file", "no text"],
  ["binary data", Buffer.of(1, 0, 2, 3), "unsupported_file", "binary"],
])("refuses %s", async (_name, content, code, message) => {
  await expect(textOf(content, "file")).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
});

test("stops reading an archive that expands beyond the limit", async () => {
  const { deflateRawSync } = await import("node:zlib");
  const bomb = zip({ "word/document.xml": "x" });
  const data = deflateRawSync(Buffer.alloc(300 * 1024 ** 2));
  // The entry claims the method deflate and its true sizes.
  const local = Buffer.alloc(30);
  bomb.copy(local, 0, 0, 30);
  const name = Buffer.from("word/document.xml");
  const sizes = (header: Buffer, at: number) => {
    header.writeUInt16LE(8, at);
    header.writeUInt32LE(0, at + 6);
    header.writeUInt32LE(data.length, at + 10);
    header.writeUInt32LE(300 * 1024 ** 2, at + 14);
  };
  sizes(local, 8);
  const central = Buffer.from(bomb.subarray(30 + name.length + 1));
  sizes(central, 10);
  central.writeUInt32LE(30 + name.length + data.length, central.length - 6);
  const file = Buffer.concat([local, name, data, central]);
  await expect(textOf(file, "a.docx")).rejects.toMatchObject({ code: "invalid_file", message: /more than/ });
});

test("ends its process when the consumer returns, and when the signal aborts", async () => {
  const long = Buffer.from("word ".repeat(200_000));
  const options = { filename: "a.txt", chunking: CHUNKING, cpuSeconds: 20 };
  for await (const { text } of readDocument(once(long), options, never)) {
    expect(text).toMatch(/^word/);
    break;
  }
  const abort = new AbortController();
  const reading = (async () => {
    for await (const _chunk of readDocument(once(long), options, abort.signal)) abort.abort(new Error("stopped"));
  })();
  await expect(reading).rejects.toThrow("stopped");
});

test("passes on the failure of its source", async () => {
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from("text");
    throw new Error("storage is away");
  };
  const chunks = readDocument(failing(), { filename: "a.txt", chunking: CHUNKING, cpuSeconds: 20 }, never);
  await expect(Array.fromAsync(chunks)).rejects.toThrow("storage is away");
});

test("cuts at paragraphs, repeats the overlap and loses nothing", () => {
  const paragraphs = Array.from({ length: 40 }, (_, index) => `Paragraph ${index} ${"has some words ".repeat(5)}end.`);
  const text = paragraphs.join("\n\n");
  const chunks = [...chunkText(text, CHUNKING)];
  for (const chunk of chunks) expect(chunk.tokens).toBeLessThanOrEqual(CHUNKING.maxTokens);
  for (const paragraph of paragraphs) expect(chunks.some((chunk) => chunk.text.includes(paragraph))).toBe(true);
  expect(chunks.filter((chunk) => chunk.text.endsWith("end.")).length).toBe(chunks.length);
  const apart = [...chunkText("one two three ".repeat(100), { maxTokens: 100, overlapTokens: 0 })];
  expect(apart.map((chunk) => chunk.text).join(" ")).toBe("one two three ".repeat(100).trim());
  expect([...chunkText("x".repeat(10_000), CHUNKING)].map((chunk) => chunk.text.length)).not.toContain(10_000);
});
