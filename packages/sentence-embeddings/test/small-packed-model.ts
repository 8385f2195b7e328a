/** A packed encoder with random weights, for tests: one layer, two heads, blocks of one scale. */

export const WIDTH = 32;
const WIDE = 64;
const POSITIONS = 8;
const BLOCK = 32;

/** Pieces and log probabilities. */
export const PIECES: ReadonlyArray<readonly [piece: string, score: number]> = [
  ["<s>", 0],
  ["<pad>", 0],
  ["</s>", 0],
  ["<unk>", 0],
  ["▁", -3],
  ["▁the", -2],
  ["▁cat", -4],
  ["▁ca", -5],
  ["t", -5],
  ["s", -5],
  ["▁straße", -6],
  ["猫", -6],
];

/** U+1E9E, the capital sharp s, becomes a small one. */
const REPLACEMENTS = new Map([[0x1e9e, "ß"]]);

export function packedModel(): Uint8Array {
  const parts: Uint8Array[] = [];
  const push = (...bytes: Uint8Array[]) => parts.push(...bytes);
  const integers = (...values: number[]) => new Uint8Array(Int32Array.from(values).buffer);
  const floats = (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);
  const long = (value: number) => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);
  const texts = PIECES.map(([piece]) => new TextEncoder().encode(piece));
  const offsets = [0];
  for (const text of texts) offsets.push((offsets.at(-1) ?? 0) + text.length);

  push(new TextEncoder().encode("E5S1"), integers(1, WIDTH, 1, 2, WIDE, PIECES.length, POSITIONS, 2));
  push(floats([1e-12]), integers(BLOCK));
  push(integers(PIECES.length, 0, 2, 1, 3), long(offsets.at(-1) ?? 0), integers(...offsets));
  push(floats(PIECES.map(([, score]) => score)), ...texts);
  const replacements = [...REPLACEMENTS].flatMap(([code, text]) => {
    const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0);
    return [integers(code), Uint8Array.of(codes.length), integers(...codes)];
  });
  push(
    integers(
      REPLACEMENTS.size,
      replacements.reduce((sum, { length }) => sum + length, 0),
    ),
    ...replacements,
  );

  const tensors = makeTensors();
  const names = [...tensors.keys()].map((name) => new TextEncoder().encode(name));
  const head = parts.reduce((sum, { length }) => sum + length, 0);
  let at = head + 4 + names.reduce((sum, { length }) => sum + 2 + length + 1 + 4 + 8 + 8, 0);
  push(integers(tensors.size));
  for (const [index, data] of [...tensors.values()].entries()) {
    const name = names[index] ?? new Uint8Array();
    push(new Uint8Array(Uint16Array.of(name.length).buffer), name, Uint8Array.of(0), integers(0));
    push(long(at), long(data.length));
    at += data.length;
  }
  push(...tensors.values());
  return Buffer.concat(parts);
}

function makeTensors(): Map<string, Uint8Array> {
  let seed = 11;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const floats = (count: number) => new Uint8Array(Float32Array.from({ length: count }, () => random() - 0.5).buffer);
  const matrix = (rows: number, columns: number) => {
    const blocks = Array.from({ length: (rows * columns) / BLOCK }, () => {
      // A float16 of 2^-5 or 2^-4.
      const scale = Uint16Array.of(random() < 0.5 ? 0x2800 : 0x2c00);
      const values = Uint8Array.from({ length: BLOCK / 2 }, () => Math.floor(random() * 256));
      return Buffer.concat([new Uint8Array(scale.buffer), values]);
    });
    return Buffer.concat(blocks);
  };
  const layer: Array<[string, number, number]> = [
    ["q", WIDTH, WIDTH],
    ["k", WIDTH, WIDTH],
    ["v", WIDTH, WIDTH],
    ["ao", WIDTH, WIDTH],
    ["fi", WIDE, WIDTH],
    ["fo", WIDTH, WIDE],
  ];
  const norms = ["emb.ln", "l0.aln", "l0.oln"];
  return new Map([
    ["emb.word", matrix(PIECES.length, WIDTH)],
    ["emb.pos", floats(POSITIONS * WIDTH)],
    ["emb.type", floats(2 * WIDTH)],
    ...layer.flatMap(
      ([name, rows, columns]): Array<[string, Uint8Array]> => [
        [`l0.${name}.w`, matrix(rows, columns)],
        [`l0.${name}.b`, floats(rows)],
      ],
    ),
    ...norms.flatMap(
      (name): Array<[string, Uint8Array]> => [
        [`${name}.w`, floats(WIDTH)],
        [`${name}.b`, floats(WIDTH)],
      ],
    ),
  ]);
}
