/** Resolves references by `$id` and `$anchor`, and by JSON Pointer, to locations in one document. */

/** Base of a schema without an absolute `$id`. Never fetched. */
const NO_BASE = "http://schema.invalid/";

/** Keywords whose values are not schemas. */
const VALUES = new Set(["default", "enum", "const", "example", "examples"]);

export class SchemaIds {
  /** Pointer of each subschema with an `$id` → its base. */
  readonly #bases = new Map<string, string>([["#", NO_BASE]]);
  /** Absolute location, with or without an anchor → pointer. */
  readonly #pointers = new Map<string, string>([[NO_BASE, "#"]]);

  constructor(schema: unknown) {
    this.#collect(schema, "#", NO_BASE);
  }

  /** The JSON Pointer, as a fragment, that `reference` at `pointer` stands for; undefined outside of the document. */
  resolve(reference: string, pointer: string): string | undefined {
    const [location = "", fragment = ""] = splitFragment(reference);
    const current = this.#baseOf(pointer);
    const base = location === "" ? current : absolute(location, current);
    const resource = base === undefined ? undefined : this.#pointers.get(base);
    if (resource === undefined) return undefined;
    if (fragment === "") return resource;
    return fragment.startsWith("/") ? `${resource}${fragment}` : this.#pointers.get(`${base}#${fragment}`);
  }

  #baseOf(pointer: string): string {
    for (let start = pointer; start !== ""; start = start.slice(0, Math.max(0, start.lastIndexOf("/")))) {
      const base = this.#bases.get(start);
      if (base !== undefined) return base;
    }
    return NO_BASE;
  }

  #collect(value: unknown, pointer: string, outer: string): void {
    if (typeof value !== "object" || value === null) return;
    const base = Array.isArray(value) ? outer : this.#collectNames(value as Record<string, unknown>, pointer, outer);
    for (const [key, inner] of Object.entries(value)) {
      if (VALUES.has(key)) continue;
      this.#collect(inner, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, base);
    }
  }

  /** Returns the base of the schema's references. */
  #collectNames(schema: Record<string, unknown>, pointer: string, outer: string): string {
    let base = outer;
    if (typeof schema.$id === "string") {
      const [location = "", fragment = ""] = splitFragment(schema.$id);
      base = (location === "" ? outer : absolute(location, outer)) ?? outer;
      if (location !== "") this.#bases.set(pointer, base);
      // Before draft 2019-09, an `$id` that is only a fragment was an anchor.
      this.#add(fragment === "" ? base : `${base}#${fragment}`, pointer);
    }
    for (const name of [schema.$anchor, schema.$dynamicAnchor]) {
      if (typeof name === "string") this.#add(`${base}#${name}`, pointer);
    }
    return base;
  }

  #add(location: string, pointer: string): void {
    if (!this.#pointers.has(location)) this.#pointers.set(location, pointer);
  }
}

function splitFragment(reference: string): [location: string, fragment: string] {
  const at = reference.indexOf("#");
  return at === -1 ? [reference, ""] : [reference.slice(0, at), reference.slice(at + 1)];
}

function absolute(location: string, base: string): string | undefined {
  return URL.parse(location, base)?.href;
}
