/** Metadata of evals and runs as it is stored. */

export type MetadataInput = Readonly<Record<string, string>> | null | undefined;

export function toText(metadata: MetadataInput): string | null {
  return metadata == null ? null : JSON.stringify(metadata);
}

export function fromText(metadata: string | null): Readonly<Record<string, string>> | null {
  return metadata === null ? null : (JSON.parse(metadata) as Record<string, string>);
}
