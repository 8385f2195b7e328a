/** The files of a skill, checked one after the other as they are read. */

import { BundleError, shown } from "./bundle-error.ts";
import {
  MAX_FILE_BYTES,
  MAX_FILES,
  MAX_MANIFEST_BYTES,
  MAX_PATH_BYTES,
  MAX_TOTAL_BYTES,
  MEGABYTE,
} from "./bundle-limits.ts";
import { type FrontMatter, readFrontMatter } from "./front-matter.ts";

export interface BundleFile {
  /** Relative, with `/` between folders. */
  path: string;
  content: Buffer;
  isExecutable: boolean;
}

export interface CheckedSkill extends FrontMatter {
  /** Folder that has all files, with a `/` at its end; "" where SKILL.md is at the top. */
  root: string;
}

const MANIFEST = "skill.md";

export class SkillFiles {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();
  readonly #tops = new Set<string>();
  /** Content of each SKILL.md that may be that of the skill, by its folder. */
  readonly #manifests = new Map<string, Buffer>();
  #bytes = 0;

  /** Throws a BundleError for a file that the skill cannot have. */
  add({ path, content }: BundleFile): void {
    this.#addPath(path);
    this.#bytes += content.length;
    if (this.#files.size > MAX_FILES) throw new BundleError(`A skill has at most ${MAX_FILES} files.`);
    checkSizes(path, content.length, this.#bytes);
    const segments = path.split("/");
    this.#tops.add(segments.length === 1 ? "" : `${segments[0]}/`);
    if (segments.length > 2 || segments.at(-1)?.toLowerCase() !== MANIFEST) return;
    if (content.length > MAX_MANIFEST_BYTES) throw new BundleError("SKILL.md has more than 1 MB.");
    this.#manifests.set(path.slice(0, -MANIFEST.length), content);
  }

  /** Reads SKILL.md. Throws a BundleError without one, or for an invalid one. */
  end(): CheckedSkill {
    const [top = ""] = this.#tops;
    const root = this.#manifests.has("") ? "" : top;
    const manifest = this.#tops.size === 1 || root === "" ? this.#manifests.get(root) : undefined;
    if (manifest === undefined) {
      throw new BundleError("There is no SKILL.md, neither at the top nor in one folder that has all files.");
    }
    return { ...readFrontMatter(manifest), root };
  }

  #addPath(path: string): void {
    const key = keyOf(path);
    if (this.#files.has(key) || this.#folders.has(key)) throw duplicate(path);
    this.#files.add(key);
    for (let end = key.indexOf("/"); end !== -1; end = key.indexOf("/", end + 1)) {
      const folder = key.slice(0, end);
      if (this.#files.has(folder)) throw duplicate(path);
      this.#folders.add(folder);
    }
  }
}

/** Returns the path without `./` at its beginning. Throws a BundleError for one that leads elsewhere, or is too long. */
export function checkPath(name: string): string {
  const path = name.replace(/^(?:\.\/)+/, "");
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new BundleError(`The path ${shown(path)} has more than ${MAX_PATH_BYTES} bytes.`);
  }
  if (/^\/|^[a-z]:/i.test(path)) throw new BundleError(`The path ${shown(path)} is absolute.`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal or a file system would take them for something else.
  if (/[\\\u0000-\u001f\u007f]/.test(path)) throw new BundleError(`The path ${shown(path)} has forbidden characters.`);
  if (path.split("/").some((segment) => segment === "" || segment === "." || segment === "..")) {
    throw new BundleError(`The path ${shown(path)} has a segment that is empty, \`.\` or \`..\`.`);
  }
  return path;
}

/** Throws a BundleError for a file of this size, or for so many bytes of all files. */
export function checkSizes(path: string, bytes: number, totalBytes: number): void {
  if (bytes > MAX_FILE_BYTES) {
    throw new BundleError(`The file ${shown(path)} has more than ${MAX_FILE_BYTES / MEGABYTE} MB.`);
  }
  if (totalBytes > MAX_TOTAL_BYTES) {
    throw new BundleError(`The files of the skill have more than ${MAX_TOTAL_BYTES / MEGABYTE} MB together.`);
  }
}

/** Paths that are one on a file system without case, or that compares composed characters. */
function keyOf(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function duplicate(path: string): BundleError {
  return new BundleError(`The path ${shown(path)} is there twice, perhaps in another case, or is also a folder.`);
}
