/** Small documents in binary formats, built from their text. */

import { crc32 } from "node:zlib";

/** A ZIP archive without compression. */
export function zip(entries: Readonly<Record<string, string>>): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(entries)) {
    const data = Buffer.from(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), common, tail, Buffer.from(name)]));
    files.push(local);
    offset += local.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, listing, end]);
}

export function docx(...paragraphs: string[]): Buffer {
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join("");
  return zip({ "word/document.xml": `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>` });
}

export function pptx(...slides: string[]): Buffer {
  const entries = slides.map((text, index) => [
    `ppt/slides/slide${index + 1}.xml`,
    `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`,
  ]);
  return zip(Object.fromEntries(entries));
}

export function xlsx(...rows: string[][]): Buffer {
  const strings = rows.flat();
  const cells = (row: string[]) => row.map((text) => `<c t="s"><v>${strings.indexOf(text)}</v></c>`).join("");
  return zip({
    "xl/workbook.xml": '<workbook><sheets><sheet name="Prices"/></sheets></workbook>',
    "xl/sharedStrings.xml": `<sst>${strings.map((text) => `<si><t>${text}</t></si>`).join("")}</sst>`,
    "xl/worksheets/sheet1.xml": `<worksheet>${rows.map((row) => `<row>${cells(row)}</row>`).join("")}</worksheet>`,
  });
}

/** A PDF with one page for each text. */
export function pdf(...pages: string[]): Buffer {
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>"];
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(" ");
  objects.push(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  for (const [index, text] of pages.entries()) {
    const stream = `BT /F1 12 Tf 50 700 Td (${text}) Tj ET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + index * 2} 0 R >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    );
  }
  return pdfOf(objects);
}

interface ScannedPage {
  /** A JPEG, or rows of one bit a pixel, as an image or a mask. */
  image: { jpeg: Buffer } | { bits: Buffer; isMask: boolean };
  width: number;
  height: number;
  /** What a scanner's program prints onto the page. */
  stamp?: string;
  /** Degrees by which a reader turns the page. */
  rotate?: number;
}

/** A PDF with one page for each image. */
export function scannedPdf(...pages: ScannedPage[]): Buffer {
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>"];
  const kids = pages.map((_, index) => `${4 + index * 3} 0 R`).join(" ");
  objects.push(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  for (const [index, { image: scan, width, height, stamp = "", rotate = 0 }] of pages.entries()) {
    const [contents, image] = [5 + index * 3, 6 + index * 3];
    const [data, coding] =
      "jpeg" in scan
        ? [scan.jpeg, "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode"]
        : [scan.bits, `${scan.isMask ? "/ImageMask true" : "/ColorSpace /DeviceGray"} /BitsPerComponent 1`];
    const stream = `q 612 0 0 792 0 0 cm /Im0 Do Q BT /F1 12 Tf 50 20 Td (${stamp}) Tj ET`;
    const resources = `<< /Font << /F1 3 0 R >> /XObject << /Im0 ${image} 0 R >> >>`;
    const form = `/Subtype /Image /Width ${width} /Height ${height} ${coding}`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /Rotate ${rotate} /MediaBox [0 0 612 792] /Resources ${resources} /Contents ${contents} 0 R >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      `<< /Type /XObject ${form} /Length ${data.length} >>\nstream\n${data.toString("latin1")}\nendstream`,
    );
  }
  return pdfOf(objects);
}

function pdfOf(objects: readonly string[]): Buffer {
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}
