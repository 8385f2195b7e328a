/** What a caller may use of a server: tools and prompts by name, resources by address. */

export interface ServerAccess {
  allowsTool(name: string): boolean;
  allowsPrompt(name: string): boolean;
  /** Also for the template of addresses, as it is written. */
  allowsResource(uri: string): boolean;
}

/** An entry of `access`; what is left out allows all, or without `tools` none. */
export interface AccessEntry {
  tools?: readonly string[] | undefined;
  prompts?: readonly string[] | undefined;
  resources?: readonly string[] | undefined;
}

export function accessOf(entries: readonly AccessEntry[]): ServerAccess {
  return {
    allowsTool: (name) => entries.some(({ tools }) => tools?.includes(name) !== false),
    allowsPrompt: (name) => entries.some(({ prompts, tools }) => prompts?.includes(name) ?? tools === undefined),
    allowsResource: (uri) =>
      entries.some(({ resources, tools }) => {
        return resources === undefined ? tools === undefined : resources.some((pattern) => matches(uri, pattern));
      }),
  };
}

/** An address and what a server may read it as, with `..` resolved, both have to match. */
function matches(uri: string, pattern: string): boolean {
  if (!pattern.endsWith("*")) return uri === pattern;
  const prefix = pattern.slice(0, -1);
  const resolved = URL.parse(uri)?.href ?? uri;
  return uri.startsWith(prefix) && resolved.startsWith(URL.parse(prefix)?.href ?? prefix) && !hasDots(resolved);
}

/** Dots that URLs without an authority keep, and those that a server may decode. */
function hasDots(uri: string): boolean {
  return /(^|[/\\])\.\.?($|[/\\?#])/.test(
    uri.replaceAll(/%2e/gi, ".").replaceAll(/%2f/gi, "/").replaceAll(/%5c/gi, "\\"),
  );
}
