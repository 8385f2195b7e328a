/** Text of Office Open XML and OpenDocument files: archives of XML, read as a stream and within limits. */

import { Parser } from "htmlparser2";
import { type Entry, fromBuffer, type ZipFile } from "yauzl";
import { DocumentError } from "./document-error.ts";
import { Nesting } from "./nesting.ts";

/** An archive of a few kilobytes can expand to gigabytes. */
const MAX_EXPANDED_BYTES = 256 * 1024 ** 2;
const MAX_ENTRIES = 10_000;

/** Parts with text, in the order in which their numbers follow one another. */
const TEXT_PARTS =
  /^(?:word\/(?:document|footnotes|endnotes)|ppt\/(?:slides\/slide|notesSlides\/notesSlide)\d+|xl\/(?:sharedStrings|workbook|worksheets\/sheet\d+)|content)\.xml$/;

interface Part {
  name: string;
  xml: string;
}

/** Throws a DocumentError for an archive that is damaged, encrypted, too large, or not a document. */
export async function textOfOffice(bytes: Buffer): Promise<string> {
  const parts = await readParts(bytes);
  if (parts.length === 0) {
    throw new DocumentError("unsupported_file", "The archive is not a DOCX, PPTX, XLSX or OpenDocument file.");
  }
  const xmlOf = (name: string) => parts.find((part) => part.name === name)?.xml;
  const shared = sharedStrings(xmlOf("xl/sharedStrings.xml") ?? "");
  const names = sheetNames(xmlOf("xl/workbook.xml") ?? "");
  const texts = parts.toSorted(byNumber).map(({ name, xml }) => {
    const [, sheet] = /^xl\/worksheets\/sheet(\d+)\.xml$/.exec(name) ?? [];
    if (sheet !== undefined) return textOfSheet(xml, shared, names[Number(sheet) - 1]);
    return name.startsWith("xl/") ? "" : textOfParagraphs(xml);
  });
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}

function readParts(bytes: Buffer): Promise<Part[]> {
  return new Promise((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true }, (error, archive) => {
      if (error !== null) return reject(damaged(error));
      const parts: Part[] = [];
      let expandedBytes = 0;
      if (archive.entryCount > MAX_ENTRIES) {
        return reject(new DocumentError("invalid_file", `The document has more than ${MAX_ENTRIES} parts.`));
      }
      archive.on("error", (failure) => reject(damaged(failure)));
      archive.on("end", () => resolve(parts));
      archive.on("entry", (entry: Entry) => {
        if (!TEXT_PARTS.test(entry.fileName)) return archive.readEntry();
        readPart(archive, entry, MAX_EXPANDED_BYTES - expandedBytes).then((content) => {
          expandedBytes += content.length;
          parts.push({ name: entry.fileName, xml: content.toString("utf8") });
          archive.readEntry();
        }, reject);
      });
      archive.readEntry();
    });
  });
}

async function readPart(archive: ZipFile, entry: Entry, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    const stream = await archive.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof DocumentError ? error : damaged(error);
  }
  return Buffer.concat(chunks);
}

/** Text of paragraphs (`w:p`, `a:p`, `text:p`), with tabs between the cells of tables. */
function textOfParagraphs(xml: string): string {
  const parts: string[] = [];
  let isText = false;
  let openDocumentDepth = 0;
  readXml(xml, {
    open(name, attributes) {
      if (name === "w:t" || name === "a:t") isText = true;
      if (name === "text:p" || name === "text:h") openDocumentDepth += 1;
      const mark = MARKS.get(name)?.(attributes);
      if (mark !== undefined) parts.push(mark);
    },
    text(text) {
      if (isText || openDocumentDepth > 0) parts.push(text);
    },
    close(name) {
      if (name === "w:t" || name === "a:t") isText = false;
      else if (name === "text:p" || name === "text:h") {
        openDocumentDepth -= 1;
        parts.push("\n");
      } else if (name === "w:p" || name === "a:p") parts.push("\n");
      else if (name === "w:tc" || name === "a:tc" || name === "table:table-cell") parts.push("\t");
      else if (name === "w:tr" || name === "a:tr" || name === "table:table-row") parts.push("\n");
    },
  });
  return parts.join("");
}

function sharedStrings(xml: string): string[] {
  const strings: string[] = [];
  let current: string[] | undefined;
  let isText = false;
  readXml(xml, {
    open(name) {
      if (name === "si") current = [];
      else if (name === "t") isText = true;
    },
    text(text) {
      if (isText) current?.push(text);
    },
    close(name) {
      if (name === "t") isText = false;
      else if (name === "si") strings.push((current ?? []).join(""));
    },
  });
  return strings;
}

function sheetNames(xml: string): string[] {
  const names: string[] = [];
  readXml(xml, {
    open(name, attributes) {
      if (name === "sheet") names.push(attributes.name ?? "");
    },
  });
  return names;
}

/** One line per row, with tabs between its cells. */
function textOfSheet(xml: string, shared: readonly string[], title: string | undefined): string {
  const rows: string[] = title === undefined ? [] : [`# ${title}`, ""];
  let cells: string[] = [];
  let type = "";
  let value: string[] | undefined;
  readXml(xml, {
    open(name, attributes) {
      if (name === "row") cells = [];
      else if (name === "c") type = attributes.t ?? "";
      else if (name === "v" || name === "t") value = [];
    },
    text(text) {
      value?.push(text);
    },
    close(name) {
      if (name === "v" || name === "t") {
        const text = (value ?? []).join("");
        cells.push(type === "s" ? (shared[Number(text)] ?? "") : text);
        value = undefined;
      } else if (name === "row" && cells.length > 0) rows.push(cells.join("\t"));
    },
  });
  return rows.join("\n");
}

interface XmlHandler {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

function readXml(xml: string, { open, text, close }: XmlHandler): void {
  const nesting = new Nesting();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        nesting.open();
        open?.(name, attributes);
      },
      ontext: (each) => text?.(each),
      onclosetag: (name) => {
        nesting.close();
        close?.(name);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
}

/** `slide2.xml` stands before `slide10.xml`. */
function byNumber(a: Part, b: Part): number {
  return a.name.localeCompare(b.name, "en", { numeric: true });
}

function damaged(cause: unknown): DocumentError {
  return new DocumentError("invalid_file", "The document is a damaged or encrypted archive.", { cause });
}

function tooLarge(): DocumentError {
  return new DocumentError("invalid_file", `The document expands to more than ${MAX_EXPANDED_BYTES} bytes.`);
}

type Attributes = Readonly<Record<string, string | undefined>>;

const TAB = () => "\t";
const LINE_BREAK = () => "\n";

/** Text of elements without text of their own. */
const MARKS: ReadonlyMap<string, (attributes: Attributes) => string> = new Map<
  string,
  (attributes: Attributes) => string
>([
  ["w:tab", TAB],
  ["text:tab", TAB],
  ["w:br", LINE_BREAK],
  ["a:br", LINE_BREAK],
  ["text:line-break", LINE_BREAK],
  ["text:s", (attributes) => " ".repeat(Math.min(100, Number(attributes["text:c"] ?? 1) || 1))],
  ["w:pStyle", headingMark],
]);

function headingMark(attributes: Attributes): string {
  const [, level] = /^heading ?([1-6])$/i.exec(attributes["w:val"] ?? "") ?? [];
  return level === undefined ? "" : `${"#".repeat(Number(level))} `;
}
