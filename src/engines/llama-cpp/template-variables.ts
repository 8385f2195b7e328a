/** The names of variables that a parsed Jinja template looks up, be they given to it or set by it. */
export function variablesOf(parsed: object): Set<string> {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (node instanceof Map) {
      for (const [key, value] of node) [key, value].forEach(visit);
    } else if (Array.isArray(node)) {
      node.forEach(visit);
    } else if (typeof node === "object" && node !== null) {
      const { type, value, computed, ...parts } = node as Record<string, unknown>;
      if (type === "Identifier") names.add(value as string);
      // `message.tools` and `f(tools=…)` name a field and a parameter.
      if (type === "MemberExpression" && computed !== true) delete parts.property;
      if (type === "KeywordArgumentExpression") delete parts.key;
      [...Object.values(parts), value].forEach(visit);
    }
  };
  visit(parsed);
  return names;
}
