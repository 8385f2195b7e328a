import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";

type Variants = Readonly<Record<string, z.ZodType>>;

/** Variants by the check of their schema: `extend` and the like copy a schema with its checks. */
const variantsByCheck = new WeakMap<object, Variants>();

/**
 * Schema of objects discriminated by `type`: validates the listed variants and passes others, which an upstream may
 * support.
 */
export function openVariants(variants: Variants) {
  const check: z.core.CheckFn<{ type: string; [field: string]: unknown }> = ({ value, issues }) => {
    const variant = Object.hasOwn(variants, value.type) ? variants[value.type] : undefined;
    const result = variant?.safeParse(value, { reportInput: true });
    if (result?.success === false) issues.push(...(result.error.issues as typeof issues));
  };
  variantsByCheck.set(check, variants);
  return lazy.looseObject(() => ({ type: z.string().min(1) })).check(check);
}

/**
 * `openVariants` of what the service answers: its type is that of the listed variants, each with its `type`. Clients of
 * OpenAI's API skip those that they do not know.
 */
export function openAnswers<Schemas extends Variants>(
  variants: Schemas,
): z.ZodType<{ [Type in keyof Schemas]: z.output<Schemas[Type]> }[keyof Schemas]> {
  return openVariants(variants) as unknown as z.ZodType<
    { [Type in keyof Schemas]: z.output<Schemas[Type]> }[keyof Schemas]
  >;
}

/** Variants of a schema that `openVariants` made; undefined for other schemas. */
export function variantsOf(schema: z.ZodType): Variants | undefined {
  const { checks = [] } = schema._zod.def;
  return checks.map((each) => variantsByCheck.get(each._zod.check)).find((variants) => variants !== undefined);
}
