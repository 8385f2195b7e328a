import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { invalidRequest } from "../faults.ts";

/** Far beyond what any request or JSON schema needs, far below what overflows a recursive walk's stack. */
const MAX_DEPTH = 128;

/** Replaces Fastify's parsers by one for JSON that says what is wrong, in UTF-8 and up to a bounded depth only. */
export function useJsonBodies(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    // Some clients name a type without a body, such as OpenAI's Python client when it deletes; who needs one says so.
    if (body.length === 0) return done(null);
    if (!isUtf8(body)) return done(invalidRequest("The request body is not UTF-8."));
    if (isDeeperThan(body, MAX_DEPTH)) {
      return done(invalidRequest(`The request body is nested more than ${MAX_DEPTH} levels deep.`));
    }
    return parseJson(request, body.toString("utf8"), done);
  });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS = new Set([0x5b, 0x7b]);
const CLOSERS = new Set([0x5d, 0x7d]);

/** Looks at brackets outside strings only, before anything that could overflow sees the body. */
function isDeeperThan(json: Buffer, limit: number): boolean {
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index] as number;
    if (byte === QUOTE) index = endOfString(json, index);
    else if (OPENERS.has(byte)) depth += 1;
    else if (CLOSERS.has(byte)) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

function endOfString(json: Buffer, start: number): number {
  let end = json.indexOf(QUOTE, start + 1);
  while (end !== -1) {
    let backslashes = 0;
    while (json[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = json.indexOf(QUOTE, end + 1);
  }
  return json.length;
}
