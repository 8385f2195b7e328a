/** An image in memory, and pieces of it as tensors. */

/** Rows of red, green and blue bytes. */
export interface Pixels {
  data: Uint8Array;
  width: number;
  height: number;
}

/** A rectangle at any angle: its center, the direction of its long side as a unit vector, and its sides, in pixels. */
export interface Rectangle {
  x: number;
  y: number;
  alongX: number;
  alongY: number;
  width: number;
  height: number;
}

const CHANNELS = 3;

/** Maps a byte to -1 to 1, as both networks expect. */
const SCALED = Float32Array.from({ length: 256 }, (_value, byte) => byte / 127.5 - 1);

/** Writes an image into a tensor as planes of blue, green and red, the order of PaddleOCR. */
export function writePlanes({ data, width, height }: Pixels, tensor: Float32Array): void {
  const plane = width * height;
  for (let pixel = 0; pixel < plane; pixel += 1) {
    for (let channel = 0; channel < CHANNELS; channel += 1) {
      tensor[(CHANNELS - 1 - channel) * plane + pixel] = SCALED[data[pixel * CHANNELS + channel] as number] as number;
    }
  }
}

/**
 * Returns what is inside a rectangle as an upright image of `height` rows, by bilinear interpolation over as many source
 * rows as one row of the result covers.
 */
export function cutOut(image: Pixels, rectangle: Rectangle, width: number, height: number): Pixels {
  const { x, y, alongX, alongY } = rectangle;
  const [stepX, stepY] = [rectangle.width / width, rectangle.height / height];
  const data = new Uint8Array(width * height * CHANNELS);
  for (let row = 0; row < height; row += 1) {
    const down = (row + 0.5) * stepY - rectangle.height / 2;
    for (let column = 0; column < width; column += 1) {
      const along = (column + 0.5) * stepX - rectangle.width / 2;
      const at = (row * width + column) * CHANNELS;
      sample(image, x + along * alongX - down * alongY - 0.5, y + along * alongY + down * alongX - 0.5, data, at);
    }
  }
  return { data, width, height };
}

/** Bilinear; beyond its edges an image goes on as at the edge. */
function sample({ data, width, height }: Pixels, x: number, y: number, into: Uint8Array, at: number): void {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [shareX, shareY] = [x - left, y - top];
  const column = (value: number) => Math.min(width - 1, Math.max(0, value)) * CHANNELS;
  const row = (value: number) => Math.min(height - 1, Math.max(0, value)) * width * CHANNELS;
  const [x0, x1, y0, y1] = [column(left), column(left + 1), row(top), row(top + 1)];
  for (let channel = 0; channel < CHANNELS; channel += 1) {
    const above = mix(data[y0 + x0 + channel] as number, data[y0 + x1 + channel] as number, shareX);
    const below = mix(data[y1 + x0 + channel] as number, data[y1 + x1 + channel] as number, shareX);
    into[at + channel] = Math.round(mix(above, below, shareY));
  }
}

function mix(first: number, second: number, share: number): number {
  return first + (second - first) * share;
}
