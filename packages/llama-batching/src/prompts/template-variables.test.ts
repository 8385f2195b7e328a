import { Template } from "@huggingface/jinja";
import { expect, test } from "vitest";
import { templateVariables } from "./template-variables.ts";

const names = (source: string) => [...templateVariables(new Template(source).parsed)];

test.each([
  "{% if tools %}x{% endif %}",
  "{{ 'x' if tools is defined else '' }}",
  "{% for m in messages %}{% set y = (tools | length) + 1 %}{% endfor %}",
  "{% set ns = namespace(a=tools) %}",
  "{{ {'a': [tools]} }}",
  "{{ messages[tools] }}",
])("finds the variable in %s", (source) => {
  expect(names(source)).toContain("tools");
});

test.each([
  "{{ message.tools }}",
  "{{ f(tools=1) }}",
  "{# tools #}",
  "tools",
  "{{ 'tools' }}",
  "{{ message['tools'] }}",
])("finds no variable in %s", (source) => {
  expect(names(source)).not.toContain("tools");
});
