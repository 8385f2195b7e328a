import { crc32, deflateSync } from "node:zlib";
import type { ImageSize } from "../../contracts/image-model.ts";

/** Red, green and blue, 0 to 255. */
export type Color = readonly [number, number, number];

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Returns a PNG whose rows go from the first color at the top to the second one at the bottom. */
export function gradientPng({ width, height }: ImageSize, from: Color, to: Color): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per channel, RGB.
  header.set([8, 2], 8);
  const row = 1 + 3 * width;
  const pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) {
    const share = height === 1 ? 0 : y / (height - 1);
    const color = Buffer.from(from.map((channel, index) => Math.round(channel + ((to[index] ?? 0) - channel) * share)));
    // The first byte of a row, 0, is its filter.
    pixels.fill(color, y * row + 1, (y + 1) * row);
  }
  const parts = [chunk("IHDR", header), chunk("IDAT", deflateSync(pixels)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...parts]);
}

/** Length, type, data, checksum (PNG, section 5.3). */
function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}
