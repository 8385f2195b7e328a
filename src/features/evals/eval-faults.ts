import { Fault } from "../../kernel/faults.ts";

export function notFound(kind: string, id: string): Fault {
  return new Fault("not-found", `The project has no ${kind} '${id.slice(0, 100)}'.`);
}

/** Ends a run whose key has ended. */
export class KeyEnded extends Fault {
  constructor() {
    super("unauthenticated", "The key that created the run no longer works.", { code: "invalid_api_key" });
  }
}

/** Ends a run whose requests were refused for a day. */
export class RunRefused extends Fault {
  constructor({ status, body }: { status: number; body: string }) {
    const reason = messageOf(body) ?? `The service answered ${status}.`;
    const message = `No row was graded within 24 hours, because requests were refused. The last refusal: ${reason} Start another run once the model answers this key.`;
    super("unavailable", message, { code: "requests_refused" });
  }
}

function messageOf(body: string): string | undefined {
  try {
    return JSON.parse(body).error.message;
  } catch {
    return undefined;
  }
}

/** Whether the project has no room for further results. */
export function isFull(failure: unknown): failure is Fault {
  return failure instanceof Fault && failure.kind === "quota-exhausted";
}

/** Throws a Fault where there is no key to encrypt content. */
export function requireContent<Content>(content: Content | undefined): Content {
  if (content !== undefined) return content;
  const message =
    "Evals store prompts and answers encrypted, and this service has no key: set PARLANCE_ENCRYPTION_KEY.";
  throw new Fault("invalid-request", message, { code: "evals_unavailable" });
}
