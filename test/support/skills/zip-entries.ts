/** Zip archives with whatever an attacker writes into their headers. */

import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  name: string;
  content?: string | Buffer;
  /** Unix mode; default: a regular file. */
  mode?: number;
  /** Size that the headers declare; default: the real one. */
  declaredBytes?: number;
  /** Bit flags beside UTF-8, such as 1: encrypted. */
  flags?: number;
}

const UTF8 = 0x0800;

export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name: text, content = "", mode = 0o100644, declaredBytes, flags = 0 } of entries) {
    const name = Buffer.from(text);
    const bytes = Buffer.from(content);
    const data = deflateRawSync(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(UTF8 | flags, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(declaredBytes ?? bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, name, data]);
    bodies.push(local);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\u0003"), common, rest, name]));
    offset += local.length;
  }
  const names = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(names.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, names, Buffer.from("PK\u0005\u0006"), end]);
}

/** A SKILL.md. */
export function manifest(name: string, description = "Reads tables."): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\nRun scripts/read.py.\n`;
}
