/** References to environment variables, in LiteLLM's notation and in that of parlance.yaml. */

export type AddNote = (path: string, reason: string) => void;

const REFERENCE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

export class LiteLlmVariables {
  readonly #note: AddNote;
  /** Environment variables by the secrets that stand in the file. */
  readonly #names = new Map<string, string>();
  /** Variables that entries without a secret in the file refer to. */
  readonly referenced = new Set<string>();
  readonly #reserved: ReadonlySet<string>;

  /** `reserved`: variables that no secret in the file takes. */
  constructor(note: AddNote, reserved: ReadonlySet<string>) {
    this.#note = note;
    this.#reserved = reserved;
  }

  /** Secret as a reference to the environment; one in the file stays out of the result. `name`: where it is by default. */
  secret(value: string | undefined, name: string | undefined, path: string): string | undefined {
    if (value === undefined) return name === undefined ? undefined : this.#reference(name);
    if (REFERENCE.test(value)) return this.text(value);
    const variable = this.#variableFor(value, name ?? "UPSTREAM_KEY");
    this.#note(path, `is a secret in the file. Set the environment variable ${variable} instead.`);
    return `\${${variable}}`;
  }

  /** Text that may be a reference. */
  text(value: string): string {
    const name = REFERENCE.exec(value)?.[1];
    return name === undefined ? value.replaceAll("${", "$${") : this.#reference(name);
  }

  #reference(name: string): string {
    this.referenced.add(name);
    return `\${${name}}`;
  }

  /** Each secret in the file gets a variable of its own. */
  #variableFor(secret: string, name: string): string {
    const existing = this.#names.get(secret);
    if (existing !== undefined) return existing;
    const used = new Set([...this.#names.values(), ...this.#reserved]);
    let variable = name;
    for (let count = 2; used.has(variable); count += 1) variable = `${name}_${count}`;
    this.#names.set(secret, variable);
    return variable;
  }
}
