/** `calculate_output` of the grader multi: a formula over the scores of its graders. */

import { invalidRequest } from "../../../kernel/faults.ts";

const FUNCTIONS: Readonly<Record<string, (...values: number[]) => number>> = {
  min: Math.min,
  max: Math.max,
  abs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  exp: Math.exp,
  sqrt: Math.sqrt,
  log: Math.log,
};
const TOKEN = /\s*(\d+(?:\.\d+)?|[A-Za-z_]\w*|[-+*/^(),])/y;
const MAX_DEPTH = 50;

/** Evaluates a formula. Throws a Fault for an invalid one. */
export function evaluateFormula(formula: string, scores: Readonly<Record<string, number>>): number {
  const parser = new Formula(tokensOf(formula), scores);
  const value = parser.sum();
  parser.end();
  return value;
}

function tokensOf(formula: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < formula.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const [, token] = TOKEN.exec(formula) ?? [];
    if (token === undefined) throw invalid(`'${formula.slice(at, at + 20).trim()}' is not part of a formula.`);
    tokens.push(token);
  }
  return tokens;
}

class Formula {
  readonly #tokens: readonly string[];
  readonly #scores: Readonly<Record<string, number>>;
  #position = 0;
  #depth = 0;

  constructor(tokens: readonly string[], scores: Readonly<Record<string, number>>) {
    this.#tokens = tokens;
    this.#scores = scores;
  }

  sum(): number {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw invalid(`it is nested more than ${MAX_DEPTH} times.`);
    let value = this.#product();
    for (let sign = this.#take("+", "-"); sign !== undefined; sign = this.#take("+", "-")) {
      value = sign === "+" ? value + this.#product() : value - this.#product();
    }
    this.#depth -= 1;
    return value;
  }

  end(): void {
    const rest = this.#tokens[this.#position];
    if (rest !== undefined) throw invalid(`'${rest}' is not expected there.`);
  }

  #product(): number {
    let value = this.#power();
    for (let sign = this.#take("*", "/"); sign !== undefined; sign = this.#take("*", "/")) {
      value = sign === "*" ? value * this.#power() : value / this.#power();
    }
    return value;
  }

  #power(): number {
    if (this.#take("-") !== undefined) return -this.#power();
    const base = this.#atom();
    return this.#take("^") === undefined ? base : base ** this.#power();
  }

  #atom(): number {
    const token = this.#tokens[this.#position];
    this.#position += 1;
    if (token === undefined) throw invalid("it ends too early.");
    if (token === "(") return this.#closed(this.sum());
    if (/^\d/.test(token)) return Number(token);
    if (Object.hasOwn(FUNCTIONS, token) && this.#take("(") !== undefined) {
      const values = [this.sum()];
      while (this.#take(",") !== undefined) values.push(this.sum());
      return this.#closed(FUNCTIONS[token]?.(...values) ?? 0);
    }
    if (!Object.hasOwn(this.#scores, token)) throw invalid(`'${token}' is neither a grader nor a function.`);
    return this.#scores[token] ?? 0;
  }

  #closed(value: number): number {
    if (this.#take(")") === undefined) throw invalid("a ) is missing.");
    return value;
  }

  #take(...tokens: string[]): string | undefined {
    const token = this.#tokens[this.#position];
    if (token === undefined || !tokens.includes(token)) return undefined;
    this.#position += 1;
    return token;
  }
}

function invalid(problem: string): Error {
  return invalidRequest(`Invalid value for 'calculate_output': ${problem}`, "calculate_output", "invalid_value");
}
