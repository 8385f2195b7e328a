import { Template } from "@huggingface/jinja";
import { expect, test } from "vitest";
import { variablesOf } from "./template-variables.ts";

const names = (source: string) => [...variablesOf(new Template(source).parsed)];

test.each([
  "{% if tools %}x{% endif %}",
  "{{ 'x' if tools is defined else '' }}",
  "{% for m in messages %}{% set y = (tools | length) + 1 %}{% endfor %}",
  "{% set ns = namespace(a=tools) %}",
  "{{ {'a': [tools]} }}",
  "{{ messages[tools] }}",
])("sees a variable in %s", (source) => {
  expect(names(source)).toContain("tools");
});

test.each([
  "{{ message.tools }}",
  "{{ f(tools=1) }}",
  "{# tools #}",
  "tools",
  "{{ 'tools' }}",
  "{{ message['tools'] }}",
])("sees none in %s", (source) => {
  expect(names(source)).not.toContain("tools");
});
