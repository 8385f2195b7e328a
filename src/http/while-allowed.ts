import type { FastifyRequest } from "fastify";
import type { Caller } from "../contracts/caller.ts";
import { Fault } from "../kernel/faults.ts";
import type { Authenticator } from "./authenticate.ts";
import { reauthenticate } from "./standing.ts";

type Accounts = Pick<Authenticator, "authenticate" | "authenticateSession">;

/**
 * Passes on the parts of an answer that lasts, until its key or session ends, or its caller may no longer call the
 * operation or, by `mayReadOn`, read on. Checks before each part; a change of accounts makes another caller.
 */
export async function* whileAllowed<Part>(
  request: FastifyRequest,
  accounts: Accounts,
  parts: AsyncIterable<Part>,
  mayReadOn: (caller: Caller) => boolean | Promise<boolean> = () => true,
): AsyncGenerator<Part> {
  let checked: Caller | undefined;
  for await (const part of parts) {
    const caller = await currentCaller(request, accounts);
    if (caller === undefined) return;
    if (caller !== checked) {
      if (!(await mayReadOn(caller))) return;
      checked = caller;
    }
    yield part;
  }
}

/** Returns undefined for a key or session that has ended, or whose caller lost the permission. */
async function currentCaller(request: FastifyRequest, accounts: Accounts): Promise<Caller | undefined> {
  // Whoever made the request has checked its caller, and ends it by its signal.
  if (request.internalCall !== undefined) return request.caller;
  try {
    return await reauthenticate(request, accounts);
  } catch (failure) {
    if (!(failure instanceof Fault)) throw failure;
    // Keys cannot be checked while the database is unavailable.
    return failure.kind === "unavailable" ? request.caller : undefined;
  }
}
