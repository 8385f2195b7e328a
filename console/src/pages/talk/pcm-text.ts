/** Base64 of 16-bit samples, little-endian as in every browser's memory. */

export function toBase64(samples: Int16Array<ArrayBuffer>): string {
  return btoa(String.fromCharCode(...new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)));
}

export function fromBase64(text: string): Int16Array<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Int16Array(bytes.buffer, 0, bytes.length >> 1);
}
