/** Checks the nulls of recorded answers against the types of the installed SDKs, with the compiler. */

import { execFile } from "node:child_process";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { RecordedAnswer } from "./recorded-answers.ts";
import type { SdkOperation } from "./sdk-operations.ts";

const COMPILER = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));
const FLAGS = [
  "--ignoreConfig",
  "--noEmit",
  "--strict",
  "--skipLibCheck",
  "--target",
  "es2024",
  "--module",
  "nodenext",
  "--types",
  "",
];

/**
 * `Optional` allows absence everywhere, as clients of later versions have to, and nothing else: a null stays an error
 * where a type does not have it. A page of an SDK is a class, of which the service sends the data; a method that
 * returns bytes or nothing has no type of JSON.
 */
const PRELUDE = `
type Optional<T> = T extends object ? { [K in keyof T]?: Optional<T[K]> } : T;
type Result<M> = M extends {
  (...parameters: any): infer A; (...parameters: any): infer B; (...parameters: any): infer C; (...parameters: any): infer D;
} ? Awaited<A | B | C | D> : never;
type Streamed<T> = T extends { controller: AbortController } & AsyncIterable<infer E> ? E : never;
type Complete<T> = T extends { iterPages(): unknown; data: (infer I)[] } ? { data: I[] }
  : T extends { arrayBuffer(): unknown } ? unknown
  : T extends { controller: AbortController } & AsyncIterable<unknown> ? never : T;
type Body<M> = void extends Result<M> ? unknown : Optional<Complete<Result<M>>>;
type Event<M> = unknown extends Complete<Result<M>> ? unknown : Optional<Streamed<Result<M>>>;
declare function check<T>(value: T): void;
`;

/** Nulls that OpenAI's document shows in the text or the examples of an operation, other than in its types. */
const DOCUMENTED_NULLS: readonly [path: RegExp, fields: readonly string[]][] = [
  // "All other chunks will also include a usage field, but with a null value"; chunks of the example end without a reason.
  [/^\/v1\/completions$/, ["usage", "finish_reason"]],
  // The examples of responses that are not complete.
  [/^\/v1\/responses/, ["usage"]],
];

function withoutDocumentedNulls(path: string, json: string): string {
  const fields = DOCUMENTED_NULLS.filter(([pattern]) => pattern.test(path)).flatMap(([, names]) => names);
  return fields.reduce((text, field) => text.replaceAll(`,"${field}":null`, ""), json);
}

interface TypedValue {
  title: string;
  /** In TypeScript, as of a file outside the repository. */
  type: string;
  json: string;
}

/** Returns one line per null that a type does not allow: the value's title and the compiler's explanation. */
export async function checkNulls(values: readonly TypedValue[]): Promise<string[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "answer-types-"));
  const file = join(folder.path, "answers.mts");
  // A type has the syntax of JSON; unlike a literal's, its properties may exceed those of the SDK's type.
  const checks = values.map(({ type, json }) => `check<${type}>(null! as ${json});`);
  await writeFile(file, PRELUDE + checks.join("\n"));
  const { stdout } = await promisify(execFile)(process.execPath, [COMPILER, ...FLAGS, file], {
    maxBuffer: 2 ** 26,
  }).catch((error: { stdout: string }) => error);
  const faults = stdout.split(/^(?=\S)/m).filter((text) => /Type 'null'/.test(text));
  const firstLine = PRELUDE.split("\n").length;
  return faults.map((text) => {
    const explanation = text.trim().split("\n").slice(-2);
    const value = values[Number(/\((\d+),/.exec(text)?.[1]) - firstLine];
    return `${value?.title}: ${explanation.map((line) => line.trim()).join(" ")}`;
  });
}

/** Pairs recorded answers with the types of the operations that an SDK has. */
export function typedAnswers(answers: readonly RecordedAnswer[], operations: readonly SdkOperation[]): TypedValue[] {
  return answers.flatMap(({ title, method, path, isEvent, json }) => {
    const operation = operations.find((each) => each.method === method && each.path.test(path));
    if (operation === undefined) return [];
    const type = `${isEvent ? "Event" : "Body"}<${operation.type}>`;
    return [{ title, type, json: withoutDocumentedNulls(path, json) }];
  });
}
