/** Sampling parameters that a GGUF file recommends: the keys `general.sampling.*`, from the model's generation_config.json. */

export interface SamplingDefaults {
  temperature?: number;
  topP?: number;
  topK?: number;
  minP?: number;
  repeatPenalty?: number;
}

/** Keys below `general.sampling` and their valid ranges. */
const KEYS: readonly [key: string, name: keyof SamplingDefaults, min: number, max: number][] = [
  ["temp", "temperature", 0, 2],
  ["top_p", "topP", 0, 1],
  ["top_k", "topK", 1, 2 ** 31 - 1],
  ["min_p", "minP", 0, 1],
  ["penalty_repeat", "repeatPenalty", 0.01, 10],
];

/** Reads the metadata of a file; leaves out values that are absent or invalid. */
export function readSamplingDefaults(metadata: unknown): SamplingDefaults {
  const { general } = (metadata ?? {}) as { general?: { sampling?: Record<string, unknown> } };
  const sampling = general?.sampling ?? {};
  const values = KEYS.flatMap(([key, name, min, max]) => {
    const value = sampling[key];
    if (typeof value !== "number" || !(value >= min && value <= max)) return [];
    // 0.95 as a 32-bit float reads as 0.949999988.
    return [[name, Number(value.toPrecision(6))]];
  });
  return Object.fromEntries(values) as SamplingDefaults;
}
