/**
 * Outlines of JSON objects: their long texts are left in the bytes until something reads them, because a body that is only
 * passed on need not become strings. 400 KB of them take 1 ms to allocate, to parse and to collect.
 */

export interface JsonOutline {
  /** Fields of the object, with short texts in place of long ones, as `JsonOutlineText` says. */
  fields: Readonly<Record<string, unknown>>;
  /** UTF-8 bytes of the texts that are left out. */
  hiddenBytes: number;
}

const outlines = new WeakMap<object, JsonOutline>();

/** Returns the outline of an object whose long texts have not become strings; undefined for any other. */
export function outlineOf(value: object): JsonOutline | undefined {
  return outlines.get(value);
}

/** Keeps the outline of an object with the same content. */
export function keepOutline(value: object, outline: JsonOutline | undefined): void {
  if (outline !== undefined) outlines.set(value, outline);
}

/** Defines a field that `read` computes when it is read first. Copies of the object have its value. */
export function deferField<Key extends string>(
  object: { [key in Key]: unknown },
  name: Key,
  read: () => unknown,
): void {
  const define = (value: unknown) =>
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  Object.defineProperty(object, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      const value = read();
      define(value);
      return value;
    },
    set: define,
  });
}
