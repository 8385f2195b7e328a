/** Quantizes matrices to int8, as ONNX Runtime's DynamicQuantizeMatMul reads them. */

/** Largest magnitude of a quantized value. */
export const MAX_QUANTIZED = {
  exact: 127,
  /** Where ONNX Runtime adds pairs of products of an unsigned and a signed byte in 16 bits: larger ones overflow. */
  overflowing: 63,
} as const;
/** Added before truncation to round, since truncation of a positive number rounds down. */
const OFFSET = 128;

/**
 * Quantizes `values`, rows of `columns`, to -`max` to `max` with a scale per row, which it returns. Writes row `index` to
 * the column `firstRow + index` of `target` [columns, rows].
 */
export function quantizeRows(
  values: Float32Array,
  columns: number,
  { max, target, rows, firstRow }: { max: number; target: Int8Array; rows: number; firstRow: number },
): Float32Array {
  const count = values.length / columns;
  const scales = Float32Array.from(
    { length: count },
    (_, row) => (maxMagnitude(values, row * columns, columns) || max) / max,
  );
  const inverses = scales.map((scale) => 1 / scale);
  for (let column = 0; column < columns; column += 1) {
    const at = column * rows + firstRow;
    for (let row = 0; row < count; row += 1) {
      const scaled = (values[row * columns + column] as number) * (inverses[row] as number);
      target[at + row] = ((scaled + OFFSET + 0.5) | 0) - OFFSET;
    }
  }
  return scales;
}

function maxMagnitude(values: Float32Array, start: number, columns: number): number {
  let max = 0;
  for (let index = start; index < start + columns; index += 1) {
    const magnitude = Math.abs(values[index] as number);
    if (magnitude > max) max = magnitude;
  }
  return max;
}
