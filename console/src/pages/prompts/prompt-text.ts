/** Content of a prompt's version as lines, which the comparison of two versions shows. */

import { t } from "../../i18n/translate.ts";
import type { PromptContent, PromptVariable } from "./prompts-api.ts";

const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}/g;

export function toLines({ messages, variables, ...settings }: PromptContent): string[] {
  return [
    ...messages.flatMap(({ role, content }) => [`${role}:`, ...content.split("\n").map((line) => `  ${line}`), ""]),
    ...variables.map((variable) =>
      t("variable {{name}}: {{type}}", { name: variable.name, type: describeVariable(variable) }),
    ),
    ...Object.entries(settings).flatMap(([name, value]) =>
      value === undefined
        ? []
        : JSON.stringify({ [name]: value }, undefined, 2)
            .split("\n")
            .slice(1, -1),
    ),
  ];
}

/** Type, options and default of a variable in words. */
export function describeVariable({ type, options, default: value }: PromptVariable): string {
  const choices = options === undefined ? type : t("{{type}} of {{options}}", { type, options: options.join(", ") });
  return value === undefined ? choices : t("{{type}}, default {{value}}", { type: choices, value: String(value) });
}

/** Names of the variables that messages refer to, in order. */
export function variablesIn(messages: readonly { content: string }[]): string[] {
  const names = messages.flatMap(({ content }) => [...content.matchAll(PLACEHOLDER)].map(([, name = ""]) => name));
  return [...new Set(names)];
}

/** All variables of a version; those that are not declared are texts. */
export function allVariables({ messages, variables }: PromptContent): PromptVariable[] {
  return variablesIn(messages).map(
    (name) => variables.find((variable) => variable.name === name) ?? { name, type: "text" },
  );
}

/** Splits a template at its placeholders. */
export function templateParts(template: string): { text: string; isPlaceholder: boolean }[] {
  const parts: { text: string; isPlaceholder: boolean }[] = [];
  let end = 0;
  for (const { 0: text, index } of template.matchAll(PLACEHOLDER)) {
    if (index > end) parts.push({ text: template.slice(end, index), isPlaceholder: false });
    parts.push({ text, isPlaceholder: true });
    end = index + text.length;
  }
  if (end < template.length) parts.push({ text: template.slice(end), isPlaceholder: false });
  return parts;
}
