import { z } from "zod";

/** Objects discriminated by `type`: those listed are checked, others pass, for upstreams that know more. */
export function openVariants(variants: Readonly<Record<string, z.ZodType>>) {
  return z.looseObject({ type: z.string().min(1) }).check(({ value, issues }) => {
    const variant = Object.hasOwn(variants, value.type) ? variants[value.type] : undefined;
    const result = variant?.safeParse(value, { reportInput: true });
    if (result?.success === false) issues.push(...(result.error.issues as typeof issues));
  });
}
