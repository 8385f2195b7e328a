interface Configuration {
  version: string;
  /** Path of the file; undefined without one. */
  file: string | undefined;
  settings: readonly {
    key: string;
    value: unknown;
    default: unknown;
    source: "default" | "file" | "environment";
    description: string;
  }[];
  models: readonly Readonly<Record<string, unknown>>[];
}

/** GET /v1/organization/configuration */
export function toConfiguration({ version, file, settings, models }: Configuration) {
  return { object: "organization.configuration" as const, version, file: file ?? null, settings, models };
}
