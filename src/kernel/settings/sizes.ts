/** Schemas of sizes and directories in parlance.yaml. */

import { z } from "zod";

export const directory = z.string().min(1).max(4096);

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, MiB: 2 ** 20, GiB: 2 ** 30 };

export const memory = z
  .string()
  .regex(/^\d{1,6}(\.\d+)? ?([MG]i?B)$/, { error: "must be a number and MB, GB, MiB or GiB, such as 8GiB" })
  .transform((value) => {
    const [, number = "", unit = ""] = /^([\d.]+) ?(\w+)$/.exec(value) ?? [];
    return Math.floor(Number(number) * (UNITS[unit] ?? 1));
  });
