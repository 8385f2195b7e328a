/** Classes of property names that no schema lists: names of one class match the same patterns. */

import { LIMITS } from "./limits.ts";
import type { SchemaDocument } from "./schema-document.ts";
import { SchemaError } from "./schema-error.ts";
import type { Node, NodeLookup } from "./schema-node.ts";
import { codePoints, complementLanguage, patternLanguage, UnsupportedPattern } from "./string-language.ts";
import { type Language, namePatterns, type ValueConstraints, withString } from "./value-constraints.ts";

export interface NameClass {
  /** The patterns that the names match. */
  patterns: ReadonlySet<string>;
  names: ValueConstraints;
}

export class NameLanguages {
  readonly #graph: NodeLookup;
  readonly #document: SchemaDocument;
  readonly #classes = new WeakMap<ValueConstraints, readonly NameClass[]>();
  readonly #languages = new Map<string, ReturnType<typeof patternLanguage> | undefined>();

  constructor(graph: NodeLookup, document: SchemaDocument) {
    this.#graph = graph;
    this.#document = document;
  }

  /** Whether a name matches a pattern of `constraints`. */
  matches(pattern: string, name: string, constraints: ValueConstraints): boolean {
    return this.#language(pattern, constraints)?.test(codePoints(name)) ?? false;
  }

  /** `allowed`: the node of all names. */
  classes(constraints: ValueConstraints, allowed: Node): readonly NameClass[] {
    const cached = this.#classes.get(constraints);
    if (cached !== undefined) return cached;
    const texts = allowed.alternatives.filter(({ types }) => types.has("string"));
    if (texts.length > 1) {
      const message = `Property names with more than one alternative cannot be enforced: ${allowed.path}.`;
      this.#document.leaveUnenforced(new SchemaError("unsupported", message, allowed.path));
    }
    let classes: NameClass[] = texts.slice(0, 1).map((names) => ({ patterns: new Set<string>(), names }));
    for (const pattern of namePatterns(constraints)) {
      const language = this.#language(pattern, constraints);
      if (language === undefined) continue;
      const path = pathOf(constraints, pattern);
      const matching: Language = { key: `pattern ${pattern}`, path, make: () => language };
      const others: Language = { key: `not pattern ${pattern}`, path, make: () => complementLanguage(language) };
      classes = classes.flatMap(({ patterns, names }) => [
        ...this.#restricted(new Set([...patterns, pattern]), names, matching),
        ...this.#restricted(patterns, names, others),
      ]);
      if (classes.length > LIMITS.nameClasses) {
        const message = `The patterns of property names overlap in more than ${LIMITS.nameClasses} ways: ${path}.`;
        throw new SchemaError("too_complex", message, path);
      }
    }
    this.#classes.set(constraints, classes);
    return classes;
  }

  #restricted(patterns: ReadonlySet<string>, names: ValueConstraints, language: Language): NameClass[] {
    const restricted = withString(names, { languages: [language] });
    return restricted === undefined || this.#graph.stringLanguage(restricted, "generated")?.isEmpty
      ? []
      : [{ patterns, names: restricted }];
  }

  #language(pattern: string, constraints: ValueConstraints) {
    if (this.#languages.has(pattern)) return this.#languages.get(pattern);
    let language: ReturnType<typeof patternLanguage> | undefined;
    try {
      language = patternLanguage(pattern);
    } catch (error) {
      if (!(error instanceof UnsupportedPattern)) throw error;
      const path = pathOf(constraints, pattern);
      const message = `The keyword cannot be enforced during generation: ${error.message} (${path}).`;
      this.#document.leaveUnenforced(new SchemaError("unsupported", message, path));
    }
    this.#languages.set(pattern, language);
    return language;
  }
}

function pathOf(constraints: ValueConstraints, pattern: string): string {
  return constraints.object.groups.find(({ patterns }) => patterns.has(pattern))?.patterns.get(pattern)?.path ?? "";
}
