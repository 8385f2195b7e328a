/** Names of the variables that a parsed Jinja template reads, passed in or set by itself. */
export function templateVariables(parsed: object): Set<string> {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    if (node instanceof Map || Array.isArray(node)) {
      [...node].flat().forEach(visit);
      return;
    }
    const { type, value, computed, ...parts } = node as Record<string, unknown>;
    if (type === "Identifier") names.add(value as string);
    // `tools` in `message.tools` and `f(tools=…)` is a field and a parameter.
    if (type === "MemberExpression" && computed !== true) delete parts.property;
    if (type === "KeywordArgumentExpression") delete parts.key;
    [...Object.values(parts), value].forEach(visit);
  };
  visit(parsed);
  return names;
}
