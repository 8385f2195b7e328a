/** Returns an array that has room for an element at `index`, with the elements of `array`. */
export function withRoom<Numbers extends Uint32Array | Float32Array | Uint16Array>(
  array: Numbers,
  index: number,
): Numbers {
  if (index < array.length) return array;
  const larger = new (array.constructor as new (length: number) => Numbers)(Math.max(16, index + 1, array.length * 2));
  larger.set(array);
  return larger;
}
