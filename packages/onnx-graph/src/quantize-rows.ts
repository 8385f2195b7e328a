/** Quantizes matrices to int8, as ONNX Runtime's DynamicQuantizeMatMul reads them. */

/**
 * Seven bits: without VNNI instructions, ONNX Runtime adds pairs of products of an unsigned and a signed byte in 16 bits,
 * where products of 64 and more can overflow.
 */
const MAX_QUANTIZED = 63;
/** Added before truncation to round, since truncation of a positive number rounds down. */
const OFFSET = 128;

/**
 * Quantizes `values`, rows of `columns`, symmetrically to their scales, which it returns. Writes row `index` to the column
 * `firstRow + index` of `target` [columns, rows].
 */
export function quantizeRows(
  values: Float32Array,
  columns: number,
  { target, rows, firstRow }: { target: Int8Array; rows: number; firstRow: number },
): Float32Array {
  const count = values.length / columns;
  const scales = Float32Array.from({ length: count }, (_, row) => scaleOf(values, row * columns, columns));
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

function scaleOf(values: Float32Array, start: number, columns: number): number {
  let max = 0;
  for (let index = start; index < start + columns; index += 1) {
    const magnitude = Math.abs(values[index] as number);
    if (magnitude > max) max = magnitude;
  }
  return max === 0 ? 1 : max / MAX_QUANTIZED;
}
