/** References to environment variables, in LiteLLM's notation and in that of parlance.yaml. */

export type AddNote = (path: string, reason: string) => void;

const REFERENCE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

export class LiteLlmVariables {
  readonly #note: AddNote;
  /** Environment variables by the secrets that stand in the file. */
  readonly #names = new Map<string, string>();

  constructor(note: AddNote) {
    this.#note = note;
  }

  /** Secret as a reference to the environment; one in the file stays out of the result. `name`: where it is by default. */
  secret(value: string | undefined, name: string | undefined, path: string): string | undefined {
    if (value === undefined) return name === undefined ? undefined : `\${${name}}`;
    if (REFERENCE.test(value)) return this.text(value);
    const variable = this.#variableFor(value, name ?? "UPSTREAM_KEY");
    this.#note(path, `is a secret in the file. Set the environment variable ${variable} instead.`);
    return `\${${variable}}`;
  }

  /** Text that may be a reference. */
  text(value: string): string {
    const name = REFERENCE.exec(value)?.[1];
    return name === undefined ? value.replaceAll("${", "$${") : `\${${name}}`;
  }

  /** Each secret in the file gets a variable of its own. */
  #variableFor(secret: string, name: string): string {
    const existing = this.#names.get(secret);
    if (existing !== undefined) return existing;
    const used = [...this.#names.values()].filter((each) => each.startsWith(name)).length;
    const variable = used === 0 ? name : `${name}_${used + 1}`;
    this.#names.set(secret, variable);
    return variable;
  }
}
