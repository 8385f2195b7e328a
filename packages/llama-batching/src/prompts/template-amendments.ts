/**
 * Amends published chat templates that leave out tools or calls, although their models are trained on them, or that need
 * methods of Python's lists.
 */

interface Amendment {
  /** Text that only templates of the family contain. */
  marker: string;
  /** Text that the addition follows. */
  anchor: string;
  addition: string;
}

const AMENDMENTS: readonly Amendment[] = [
  // LFM2: the model card says how the model calls, and the template shows results but no calls.
  {
    marker: "List of tools: ",
    anchor: '{%- set content = message["content"] -%}',
    addition: `{%- if message["tool_calls"] -%}
{%- set calls = namespace(texts=[]) -%}
{%- for call in message["tool_calls"] -%}
{%- set values = namespace(texts=[]) -%}
{%- for name, value in call["function"]["arguments"] | items -%}
{%- set values.texts = values.texts + [name + "=" + (value | tojson)] -%}
{%- endfor -%}
{%- set calls.texts = calls.texts + [call["function"]["name"] + "(" + (values.texts | join(", ")) + ")"] -%}
{%- endfor -%}
{%- set content = content + "<|tool_call_start|>[" + (calls.texts | join(", ")) + "]<|tool_call_end|>" -%}
{%- endif -%}`,
  },
  // DeepSeek 3.1: the template shows calls and results, and the model card says how tools are described.
  {
    marker: "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>'+ tool['function']['name'] + '<｜tool▁sep｜>'",
    anchor: "{{ bos_token }}{{ ns.system_prompt }}",
    addition: `{%- if tools -%}{{ "\\n\\n## Tools\\nYou have access to the following tools:\\n" }}
{%- for tool in tools -%}
{{ "\\n### " + tool.function.name + "\\nDescription: " + tool.function.description + "\\n\\nParameters: " + (tool.function.parameters | tojson) + "\\n" }}
{%- endfor -%}
{{ "\\nTo call tools, write exactly this, with as many calls as necessary:\\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tool name<｜tool▁sep｜>arguments as JSON<｜tool▁call▁end｜><｜tool▁calls▁end｜>" }}
{%- endif -%}`,
  },
];

/** LFM2.5 writes texts between apostrophes without escapes: as JSON, they can contain any character. */
const QUOTED_TEXT = [/"'" \+ (\w+) \+ "'"/g, "$1 | tojson"] as const;

/** `list.append` and `list.pop(0)`, as in Kimi K2's template: the renderer's lists have no methods that change them. */
const LIST_METHODS: readonly (readonly [call: RegExp, replacement: string])[] = [
  [/(\{%-?)\s*set _ = ([\w.]+)\.append\(([^()]*)\)\s*(-?%\})/g, "$1 set $2 = $2 + [$3] $4"],
  [/(\{%-?)\s*set (\w+) = (\w+\.\w+)\.pop\(0\)\s*(-?%\})/g, "$1 set $2 = $3[0] $4$1 set $3 = $3[1:] $4"],
];

export function amendTemplate(source: string): string {
  const added = AMENDMENTS.filter(({ marker, anchor }) => source.includes(marker) && source.includes(anchor)).reduce(
    (rest, { anchor, addition }) => rest.replace(anchor, () => anchor + addition),
    source,
  );
  return [QUOTED_TEXT, ...LIST_METHODS].reduce((rest, [call, replacement]) => rest.replace(call, replacement), added);
}
