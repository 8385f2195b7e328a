/**
 * Entry of a process that reads one file and exits, so that a hostile file can break no other process. Reads the options
 * from standard input as one line of JSON, then the file; writes chunks to standard output as lines of JSON, and to
 * descriptor 3 how it ended.
 */

import { closeSync, writeSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { chunkText } from "./chunk-text.ts";
import { DocumentError } from "./document-error.ts";
import type { ChildOptions, DocumentReport } from "./document-reader.ts";
import { textOfDocument } from "./document-text.ts";
import { type Pictures, REFUSED_PICTURES, SKIPPED_PICTURES } from "./pictures.ts";

const [OUTPUT, REPORT_DESCRIPTOR] = [1, 3];
const LINE_FEED = 10;

process.stdout.on("error", () => process.exit(1));
void run();

async function run(): Promise<void> {
  try {
    const input = await buffer(process.stdin);
    const head = input.indexOf(LINE_FEED);
    const { filename, chunking, pictures }: ChildOptions = JSON.parse(input.toString("utf8", 0, head));
    const text = await textOfDocument(input.subarray(head + 1), filename, await toPictures(pictures));
    for (const chunk of chunkText(text, chunking)) await write(`${JSON.stringify(chunk)}\n`);
    end({ isComplete: true });
  } catch (error) {
    const { code, isPicture } = error instanceof DocumentError ? error : { code: undefined, isPicture: false };
    const message = error instanceof Error ? error.message : String(error);
    end({ code, message, isPicture });
  }
}

/** Loads native code only where it is needed, and allowed. */
async function toPictures(option: ChildOptions["pictures"]): Promise<Pictures> {
  if (option === "skip") return SKIPPED_PICTURES;
  if (option === "refuse") return REFUSED_PICTURES;
  const { recognizedPictures } = await import("./recognized-pictures.ts");
  return recognizedPictures(option);
}

/** Closes the pipes first: Node.js can hang while it exits (nodejs/node#54918), and the reader need not wait for that. */
function end(report: DocumentReport): void {
  writeSync(REPORT_DESCRIPTOR, JSON.stringify(report));
  closeSync(REPORT_DESCRIPTOR);
  closeSync(OUTPUT);
  process.exit();
}

function write(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Waits until the bytes have left: the reader sets the pace.
    process.stdout.write(line, (error) => (error ? reject(error) : resolve()));
  });
}
