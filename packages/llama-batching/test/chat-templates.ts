/** Short chat templates that write tools and reasoning as the families of models do. */

const END = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/** ChatML with `<tool_call>`, as Qwen's and Hermes' models have it. */
export const HERMES = `{% if tools %}<|im_start|>system
You may call functions: {% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}{% for message in messages %}{% if message.role == "tool" %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content }}{% for call in message.tool_calls or [] %}{{ "\\n<tool_call>" }}
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endif %}{% endfor %}${END}`;

/** The same, with reasoning that can be turned off. */
export const HERMES_THINKING =
  HERMES.slice(0, -END.length) +
  "{% if add_generation_prompt %}<|im_start|>assistant\n" +
  "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}";

/** Llama 3's: JSON without a tag, one call only. */
export const LLAMA_3 = `{{ bos_token }}{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}{% if message.tool_calls %}
{%- if message.tool_calls | length != 1 %}{{ raise_exception("only single tool-calls at once") }}{% endif %}
{%- set call = message.tool_calls[0].function %}<|start_header_id|>assistant<|end_header_id|>

{"name": "{{ call.name }}", "parameters": {{ call.arguments | tojson }}}<|eot_id|>
{%- else %}<|start_header_id|>{{ message.role }}<|end_header_id|>

{{ message.content }}<|eot_id|>{% endif %}{% endfor %}`;

/** Mistral's older one: a list, with an ID of nine characters in each call. */
export const MISTRAL_NEMO = `{{ bos_token }}{% if tools %}[AVAILABLE_TOOLS]{{ tools | tojson }}[/AVAILABLE_TOOLS]{% endif %}
{%- for message in messages %}{% if message.role == "user" %}[INST]{{ message.content }}[/INST]
{%- elif message.tool_calls %}[TOOL_CALLS][{% for call in message.tool_calls or [] %}
{%- if call.id | length != 9 %}{{ raise_exception("ids have nine characters") }}{% endif %}
{{- '{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + ', "id": "' + call.id + '"}' }}
{%- if not loop.last %}, {% endif %}{% endfor %}]{{ eos_token }}
{%- else %} {{ message.content }}{{ eos_token }}{% endif %}{% endfor %}`;

/** Mistral's newer one. */
export const MISTRAL_SMALL = `{{ bos_token }}{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}
{%- if message.role == "user" %}[INST]{{ message.content }}[/INST]{% else %}{{ message.content }}
{%- for call in message.tool_calls or [] %}[TOOL_CALLS]{{ call.function.name }}[ARGS]{{ call.function.arguments | tojson }}{% endfor %}
{{- eos_token }}{% endif %}{% endfor %}`;

/** DeepSeek's: arguments are text, put between fences. */
export const DEEPSEEK = `{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}{% if message.role == "user" %}<｜User｜>{{ message.content }}
{%- else %}<｜Assistant｜>{{ message.content }}{% if message.tool_calls %}<｜tool▁calls▁begin｜>{% for call in message.tool_calls or [] %}
{{- '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' + call.function.name + '\n\`\`\`json\n' + call.function.arguments + '\n\`\`\`<｜tool▁call▁end｜>' }}
{%- if not loop.last %}{{ "\n" }}{% endif %}{% endfor %}<｜tool▁calls▁end｜>{% endif %}<｜end▁of▁sentence｜>{% endif %}{% endfor %}`;

/** Arguments in XML-like tags instead of JSON, as in Qwen 3.5, Nemotron 3 and Step 3.5. */
export const QWEN_CODER = HERMES.replace(
  `{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}`,
  '<function={{ call.function.name }}>{% for name, value in call.function.arguments | items %}{{ "\\n" }}<parameter={{ name }}>\n{% if value is string %}{{ value }}{% else %}{{ value | tojson }}{% endif %}{{ "\\n" }}</parameter>{% endfor %}{{ "\\n" }}</function>',
);

const calls = (call: string, before = "", after = "") =>
  `{% if message.tool_calls %}${before}{% for call in message.tool_calls or [] %}${call}{% endfor %}${after}{% endif %}`;
const pairs = (text: string, other: string, between = "") =>
  `{% for name, value in call.function.arguments | items %}{% if value is string %}${text}{% else %}${other}{% endif %}` +
  `{% if not loop.last %}{{ "${between}" }}{% endif %}{% endfor %}`;
const chat = (answer: string) =>
  `{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}<|{{ message.role }}|>{{ message.content }}${answer}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`;

/** GLM's: keys and values in tags. */
export const GLM = chat(
  calls(
    `<tool_call>{{ call.function.name }}${pairs(
      "<arg_key>{{ name }}</arg_key><arg_value>{{ value }}</arg_value>",
      "<arg_key>{{ name }}</arg_key><arg_value>{{ value | tojson }}</arg_value>",
    )}</tool_call>`,
  ),
);

/** Like that of DeepSeek 3.2, which marks texts. */
export const DEEPSEEK_MARKUP = chat(
  calls(
    `<call name="{{ call.function.name }}">{{ "\n" }}${pairs(
      '<parameter name="{{ name }}" string="true">{{ value }}</parameter>{{ "\n" }}',
      '<parameter name="{{ name }}" string="false">{{ value | tojson }}</parameter>{{ "\n" }}',
    )}</call>{{ "\n" }}`,
    '<calls>{{ "\n" }}',
    "</calls>",
  ),
);

/** Gemma 4's: texts between control tokens, other values as they are. */
export const GEMMA_4 = chat(
  calls(
    `<|tool_call>call:{{ call.function.name }}{{ "{" }}${pairs(
      '{{ name }}:<|"|>{{ value }}<|"|>',
      "{{ name }}:{{ value | tojson }}",
      ",",
    )}{{ "}" }}<tool_call|>`,
  ),
);

/** Calls as in Python, with texts between apostrophes. */
export const LFM2_5 = chat(
  calls(
    `{{ call.function.name }}(${pairs("{{ name }}='{{ value }}'", "{{ name }}={{ value | tojson }}", ", ")}){% if not loop.last %}, {% endif %}`,
    "<|tool_call_start|>[",
    "]<|tool_call_end|>",
  ),
);

/** Like that of LFM2, which shows tools and results, but no calls. */
export const LFM2 = `{% if tools %}<|im_start|>system
List of tools: {{ tools | tojson }}<|im_end|>
{% endif %}{%- for message in messages -%}{{- "<|im_start|>" + message["role"] + "\n" -}}{%- set content = message["content"] -%}
{{- content + "<|im_end|>\n" -}}{%- endfor -%}${END}`;

/** Like that of DeepSeek 3.1, which shows calls, but no tools. */
export const DEEPSEEK_3_1 = `{% set ns = namespace(system_prompt="") %}{{ bos_token }}{{ ns.system_prompt }}{% for message in messages %}
{%- if message['tool_calls'] %}<｜{{ message.role }}｜>{%- for tool in message['tool_calls'] -%}{%- if loop.first -%}{{'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>'+ tool['function']['name'] + '<｜tool▁sep｜>' + tool['function']['arguments'] | tojson + '<｜tool▁call▁end｜>'}}
{%- else -%}{{'<｜tool▁call▁begin｜>'+ tool['function']['name'] + '<｜tool▁sep｜>' + tool['function']['arguments'] | tojson + '<｜tool▁call▁end｜>'}}{%- endif -%}
{%- endfor -%}{{'<｜tool▁calls▁end｜>'}}{% else %}<｜{{ message.role }}｜>{{ message['content'] }}{% endif %}{% endfor %}`;

/** Like that of Kimi K2, which counts the calls of a conversation in a list. */
export const KIMI_K2 = `{%- set queue = namespace(ids=[]) -%}{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}<|im_{{ message.role }}|>
{%- if message.tool_calls %}<|tool_calls_section_begin|>{%- for call in message.tool_calls -%}
{%- set id = 'functions.' + call.function.name + ':' + (queue.ids | length | string) -%}
{%- set _ = queue.ids.append(id) -%}
<|tool_call_begin|>{{ id }}<|tool_call_argument_begin|>{{ call.function.arguments | tojson }}<|tool_call_end|>
{%- endfor -%}<|tool_calls_section_end|>
{%- elif message.role == 'tool' -%}{%- set id = queue.ids.pop(0) -%}## Return of {{ id }}: {{ message.content }}
{%- else -%}{{ message.content }}{%- endif -%}{% endfor %}`;
