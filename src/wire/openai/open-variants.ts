import { z } from "zod";

/**
 * Schema of objects discriminated by `type`: validates the listed variants and passes others, which an upstream may
 * support.
 */
export function openVariants(variants: Readonly<Record<string, z.ZodType>>) {
  return z.looseObject({ type: z.string().min(1) }).check(({ value, issues }) => {
    const variant = Object.hasOwn(variants, value.type) ? variants[value.type] : undefined;
    const result = variant?.safeParse(value, { reportInput: true });
    if (result?.success === false) issues.push(...(result.error.issues as typeof issues));
  });
}
