/** Signatures of reasoning, with the provider that recognizes them where that is not Anthropic. */

/** Not a character of base64, which signatures are. */
const SEPARATOR = "#";

/** Names the provider in a signature. Those of Anthropic's models are the same at every provider, so they have no name. */
export function withProvider(signature: string, provider: string): string {
  return `${provider}${SEPARATOR}${signature}`;
}

/** Returns the signature as the provider wrote it; undefined for one of another provider. */
export function ownSignature(signature: string | undefined, provider: string | undefined): string | undefined {
  if (signature === undefined) return undefined;
  const end = signature.indexOf(SEPARATOR);
  const name = end === -1 ? undefined : signature.slice(0, end);
  return name === provider ? signature.slice(end + 1) : undefined;
}
