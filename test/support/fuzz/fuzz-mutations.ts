/** Turns generators of valid JSON into generators of bodies, most of them with one mutation. */

import fc from "fast-check";

/** Values that are wrong almost everywhere, and the limits of types. */
const strange = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    "",
    0,
    -1,
    1e308,
    2 ** 53,
    -0.5,
    [],
    {},
    [[]],
    [null],
    { type: "x" },
    "\0",
    "\ud800",
    "9".repeat(400),
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const key = fc.oneof(
  fc.constantFrom("type", "constructor", "toString", "__proto__x", "x-y", ""),
  fc.string({ maxLength: 9 }),
);

interface Mutation {
  at: number;
  operation: "replace" | "delete" | "add" | "repeat" | "nest";
  value: unknown;
  key: string;
}
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  operation: fc.constantFrom("replace", "replace", "delete", "add", "repeat", "nest"),
  value: strange,
  key,
});

type Container = Record<string | number, unknown>;

/** Changes one place of a JSON value, in a copy. */
function mutate(original: unknown, { at, operation, value, key: added }: Mutation): unknown {
  const holder: Container = { root: structuredClone(original) };
  const places: [Container, string | number][] = [];
  const walk = (container: Container) => {
    for (const each of Array.isArray(container) ? container.keys() : Object.keys(container)) {
      places.push([container, each]);
      const inner = container[each];
      if (typeof inner === "object" && inner !== null) walk(inner as Container);
    }
  };
  walk(holder);
  const [container, place] = places[at % places.length] ?? [holder, "root"];
  const old = container[place];
  if (operation === "delete" && Array.isArray(container)) container.splice(Number(place), 1);
  else if (operation === "delete") delete container[place];
  else if (operation === "repeat" && Array.isArray(old)) container[place] = Array.from({ length: 50 }, () => old[0]);
  else if (operation === "repeat" && typeof old === "string") container[place] = old.repeat(200);
  else if (operation === "nest") container[place] = [old];
  else if (operation === "add" && typeof old === "object" && old !== null) (old as Container)[added] = value;
  else container[place] = value;
  return holder.root;
}

/** A valid value as often as not; otherwise with one mutation, at times with one more in its text. */
export function toBody(valid: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: valid.map(stringify) },
    { weight: 6, arbitrary: fc.tuple(valid, mutation).map(([value, change]) => stringify(mutate(value, change))) },
    {
      weight: 1,
      arbitrary: fc.tuple(valid, fc.nat(), fc.string({ maxLength: 2 })).map(([value, at, put]) => {
        const json = stringify(value);
        const index = at % (json.length + 1);
        return json.slice(0, index) + put + (at % 3 === 0 ? "" : json.slice(index + 1));
      }),
    },
  );
}

const stringify = (value: unknown) => JSON.stringify(value) ?? "";
