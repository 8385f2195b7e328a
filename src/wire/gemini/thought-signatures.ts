/**
 * Signatures of reasoning as Gemini's clients carry them: Base64, which some decode. Those of Gemini's models are passed
 * on as they are; those of others are wrapped.
 */

const GEMINI = "gemini#";
const WRAPPED = "parlance:";
const ENCRYPTED = "parlance-encrypted:";

interface Signature {
  signature?: string | undefined;
  /** Reasoning that only its provider can read. */
  encrypted?: string | undefined;
}

export function isOfGemini({ signature }: Signature): boolean {
  return signature?.startsWith(GEMINI) === true;
}

export function toThoughtSignature({ signature, encrypted }: Signature): string | undefined {
  if (encrypted !== undefined) return Buffer.from(ENCRYPTED + encrypted).toString("base64");
  if (signature === undefined) return undefined;
  if (signature.startsWith(GEMINI)) return signature.slice(GEMINI.length);
  return Buffer.from(WRAPPED + signature).toString("base64");
}

export function readThoughtSignature(sent: string): Signature {
  const text = Buffer.from(sent, "base64").toString();
  if (text.startsWith(ENCRYPTED)) return { encrypted: text.slice(ENCRYPTED.length) };
  return { signature: text.startsWith(WRAPPED) ? text.slice(WRAPPED.length) : GEMINI + sent };
}
