/** Reads a body of at most `maxBytes`; throws what `tooLarge` returns for a longer one, whose rest is not read. */
export async function readWithin(
  body: AsyncIterable<Buffer> & { destroy(): void; on(event: "error", listener: () => void): unknown },
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    body.on("error", () => {});
    body.destroy();
  }
}
