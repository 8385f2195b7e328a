import fc from "fast-check";

/** A schema and matching values, with properties in the order of the schema. */
export interface Generated {
  schema: Record<string, unknown>;
  values: fc.Arbitrary<unknown>;
}

const NAMES = [
  "name",
  "age",
  "a b",
  'quo"te',
  "back\\slash",
  "line\nbreak",
  "größe",
  "😀",
  "x",
  "xy",
  "length",
  "",
  "0",
];
const PATTERNS = [
  "^[A-Z]{2}-\\d{3}$",
  "^(red|green|blue)$",
  '^"[^"\\\\]{0,5}"$',
  "^\\w+@\\w+\\.(com|org)$",
  "^[äöü]+é?$",
  "^(a|b)*c{2,4}$",
  "^\\S{1,4}\\s\\S$",
  "ab+c",
  "^x",
  "\\d$",
];

/** Excludes property names by which ajv compares objects. */
const comparable = fc
  .jsonValue({ maxDepth: 2 })
  .map(withoutExponents)
  .filter((value) => !/"(valueOf|toString|constructor|__proto__)"/.test(JSON.stringify(value)));

const leaf = fc.oneof(
  fc.constant(generated({ type: "null" }, fc.constant(null))),
  fc.constant(generated({ type: "boolean" }, fc.boolean())),
  fc.constant(
    generated(
      { type: "number" },
      fc.integer({ min: -1e9, max: 1e9 }).map((value) => value / 100),
    ),
  ),
  fc
    .tuple(fc.integer({ min: -2000, max: 2000 }), fc.nat(3000))
    .map(([min, span]) =>
      generated({ type: "integer", minimum: min, maximum: min + span }, fc.integer({ min, max: min + span })),
    ),
  fc.tuple(fc.integer({ min: -30, max: 30 }), fc.integer({ min: 1, max: 12 })).map(([low, step]) =>
    generated(
      { type: "integer", exclusiveMinimum: low * step - 1, multipleOf: step },
      fc.nat(50).map((count) => (low + count) * step),
    ),
  ),
  fc.tuple(fc.integer({ min: -500, max: 500 }), fc.integer({ min: 1, max: 500 })).map(([low, span]) =>
    generated(
      { type: "number", exclusiveMinimum: low / 10, maximum: (low + span) / 10 },
      fc.integer({ min: 1, max: span * 10 }).map((step) => (low * 10 + step) / 100),
    ),
  ),
  fc
    .tuple(fc.nat(4), fc.nat(6))
    .map(([minLength, more]) =>
      generated(
        { type: "string", minLength, maxLength: minLength + more },
        fc.string({ unit: "binary", minLength, maxLength: minLength + more }),
      ),
    ),
  fc.constant(generated({ type: "string" }, fc.string({ unit: "grapheme" }))),
  fc
    .constantFrom(...PATTERNS)
    .map((pattern) => generated({ type: "string", pattern }, fc.stringMatching(new RegExp(pattern, "u")))),
  fc.constantFrom(
    generated({ type: "string", format: "uuid" }, fc.uuid()),
    generated({ type: "string", format: "ipv4" }, fc.ipV4()),
    generated(
      { type: "string", format: "date" },
      fc
        .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 10)),
    ),
    generated(
      { type: "string", format: "date-time" },
      fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString()),
    ),
  ),
  fc
    .uniqueArray(comparable, {
      minLength: 1,
      maxLength: 5,
      selector: JSON.stringify,
    })
    .map((values) => generated({ enum: values }, fc.constantFrom(...values))),
);

const { any } = fc.letrec<{ any: Generated }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    leaf,
    leaf.chain((inner) =>
      "type" in inner.schema && inner.schema.type !== "null" && !Array.isArray(inner.schema.type)
        ? fc.constant(
            generated(
              { ...inner.schema, type: [inner.schema.type, "null"] },
              fc.oneof(inner.values, fc.constant(null)),
            ),
          )
        : fc.constant(inner),
    ),
    fc
      .tuple(tie("any"), fc.nat(3), fc.nat(3))
      .map(([item, minItems, more]) =>
        generated(
          { type: "array", items: item.schema, minItems, maxItems: minItems + more },
          fc.array(item.values, { minLength: minItems, maxLength: minItems + more }),
        ),
      ),
    fc
      .array(tie("any"), { minLength: 1, maxLength: 3 })
      .map((items) =>
        generated(
          { type: "array", prefixItems: items.map(({ schema }) => schema), items: false, minItems: items.length },
          fc.tuple(...items.map(({ values }) => values)),
        ),
      ),
    fc
      .tuple(
        fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 4 }),
        fc.array(tie("any"), { minLength: 4, maxLength: 4 }),
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        fc.option(tie("any")),
      )
      .map(([names, members, required, others]) => object(names, members, required, others)),
    fc
      .tuple(tie("any"), tie("any"))
      .map(([left, right]) => generated({ anyOf: [left.schema, right.schema] }, fc.oneof(left.values, right.values))),
    fc.array(tie("any"), { minLength: 2, maxLength: 3 }).map((cases) => {
      const objects = cases.map((inner, index) =>
        object(
          ["kind", "value"],
          [generated({ const: `case ${index}` }, fc.constant(`case ${index}`)), inner],
          [true, false],
          null,
        ),
      );
      return generated(
        { oneOf: objects.map(({ schema }) => schema) },
        fc.oneof(...objects.map(({ values }) => values)),
      );
    }),
    fc.tuple(tie("any"), tie("any")).map(([left, right]) =>
      generated(
        {
          allOf: [
            { type: "object", properties: { left: left.schema }, required: ["left"] },
            { type: "object", properties: { left: true, right: right.schema }, required: ["right"] },
          ],
        },
        fc.tuple(left.values, right.values).map(([a, b]) => ({ left: a, right: b })),
      ),
    ),
    tie("any").map((inner) =>
      generated(
        {
          $ref: "#/$defs/list",
          $defs: {
            list: {
              type: "object",
              title: "A list",
              properties: { head: true, tail: { anyOf: [{ $ref: "#/$defs/list" }, { type: "null" }] } },
              required: ["tail"],
            },
          },
        },
        fc
          .array(inner.values, { maxLength: 3 })
          .map((values) => values.reduce<unknown>((tail, head) => ({ head, tail }), { tail: null })),
      ),
    ),
  ),
}));

/** Schemas with all supported keywords, nested and combined. References appear only at the root, which they resolve against. */
export const generatedSchemas: fc.Arbitrary<Generated> = any.filter(
  ({ schema }) => "$ref" in schema || !JSON.stringify(schema).includes('"$ref"'),
);

/** A reproducible sample. */
export function sampleSchemas(count: number, seed: number): Array<Record<string, unknown>> {
  return fc.sample(generatedSchemas, { numRuns: count, seed }).map(({ schema }) => schema);
}

function object(
  names: readonly string[],
  members: readonly Generated[],
  required: readonly boolean[],
  others: Generated | null,
): Generated {
  const member = (index: number) => members[index] as Generated;
  const described = names.map((name, index) => [name, member(index)] as const);
  const extra = others
    ? fc.dictionary(fc.stringMatching(/^[^0-9].{0,8}$/su), others.values, { maxKeys: 2, noNullPrototype: true })
    : fc.constant({});
  return generated(
    {
      type: "object",
      properties: Object.fromEntries(described.map(([name, { schema }]) => [name, schema])),
      required: names.filter((_, index) => required[index]),
      additionalProperties: others ? others.schema : false,
    },
    fc
      .tuple(
        fc.tuple(
          ...described.map(([, { values }], index) =>
            required[index] ? values.map((value) => [value]) : fc.option(values.map((value) => [value])),
          ),
        ),
        extra,
      )
      .map(([values, more]) => {
        const written = described.flatMap(([name], index) => {
          const value = values[index] as [unknown] | null;
          return value === null ? [] : [[name, value[0]] as const];
        });
        const additional = Object.entries(more).filter(([name]) => !names.includes(name));
        return Object.fromEntries([...written, ...additional]);
      }),
  );
}

function generated(schema: Record<string, unknown>, values: fc.Arbitrary<unknown>): Generated {
  return { schema, values };
}

/** Rounds numbers to those without an exponent in JSON, and -0 to 0. */
function withoutExponents(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, inner) => (typeof inner === "number" ? Math.round(inner % 1e6) : inner));
}
