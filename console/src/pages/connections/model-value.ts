/** A model of the configuration as its form edits it: fields without an input keep their values. */

import type { DeploymentValue } from "./host-groups.ts";
import { perToken } from "./per-token.ts";

export interface ModelValue {
  id: string;
  task?: string;
  aliases?: readonly string[];
  fallbacks?: readonly (string | { model: string; when?: string })[];
  strategy?: string;
  price?: Readonly<Record<string, string>>;
  cache?: Readonly<Record<string, unknown>>;
  guardrails?: readonly Readonly<Record<string, unknown>>[];
  retries?: number;
  max_queue?: number;
  hidden?: boolean;
  deployments?: readonly DeploymentValue[];
}

/** A model without what is empty, which the configuration fills in. */
export function withoutEmpty(value: ModelValue): ModelValue {
  const isEmpty = (each: unknown) =>
    each === undefined || each === "" || (typeof each === "object" && each !== null && Object.keys(each).length === 0);
  return Object.fromEntries(Object.entries(value).filter(([, each]) => !isEmpty(each))) as unknown as ModelValue;
}

/** US dollars for a million tokens, from the price of one; empty without a price. */
export function perMillion(price: string | undefined): string {
  if (price === undefined) return "";
  const [whole = "0", fraction = ""] = price.split(".");
  const digits = `${whole}${fraction.slice(0, 6).padEnd(6, "0")}`.replace(/^0+(?=\d)/, "");
  const rest = fraction.slice(6).replace(/0+$/, "");
  return rest === "" ? digits : `${digits}.${rest}`;
}

/** The prices with that of a unit set to US dollars for a million; undefined for what is not a number. */
export function withPrice(value: ModelValue, unit: string, millionTokens: string): ModelValue | undefined {
  const { [unit]: _before, ...others } = value.price ?? {};
  if (millionTokens.trim() === "") return { ...value, price: others };
  const price = perToken(millionTokens);
  return price === undefined ? undefined : { ...value, price: { ...others, [unit]: price } };
}

/** Whether a model has an ability: null where the configuration does not say, and requests try. */
export function abilityOf({ abilities }: DeploymentValue, name: string): boolean | null {
  return abilities?.[name] ?? null;
}

export function withAbility(deployment: DeploymentValue, name: string, has: boolean | null): DeploymentValue {
  const { [name]: _before, ...others } = deployment.abilities ?? {};
  const abilities = has === null ? others : { ...others, [name]: has };
  const { abilities: _old, ...rest } = deployment;
  return Object.keys(abilities).length === 0 ? rest : { ...rest, abilities };
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
