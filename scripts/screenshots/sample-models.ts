/** Configuration of the service in the screenshots: scripted models that answer like a team's. */

const SORTED = [
  "Merge sort splits the list, sorts both halves and merges them:",
  "",
  "```python",
  "def merge_sort(items: list[int]) -> list[int]:",
  "    if len(items) <= 1:",
  "        return items",
  "    middle = len(items) // 2",
  "    left, right = merge_sort(items[:middle]), merge_sort(items[middle:])",
  "    merged = []",
  "    while left and right:",
  "        merged.append((left if left[0] <= right[0] else right).pop(0))",
  "    return merged + left + right",
  "```",
  "",
  "Each level merges $n$ items and there are $\\log_2 n$ levels:",
  "",
  "$$T(n) = 2\\,T\\!\\left(\\tfrac{n}{2}\\right) + n = O(n \\log n)$$",
  "",
  "| n | comparisons | time |",
  "|--:|--:|--:|",
  "| 1,000 | 9,966 | 1.2 ms |",
  "| 10,000 | 132,877 | 15.8 ms |",
  "| 100,000 | 1,660,964 | 201 ms |",
].join("\n");

const SHORT = [
  "**Merge sort** divides the list until single items remain and merges them in order:",
  "",
  "```mermaid",
  "flowchart LR",
  "  A[5 2 8 1] --> B[5 2]",
  "  A --> C[8 1]",
  "  B --> D[2 5]",
  "  C --> E[1 8]",
  "  D --> F[1 2 5 8]",
  "  E --> F",
  "```",
  "",
  "It is stable and takes $O(n \\log n)$ steps in the worst case, with $O(n)$ memory for the merged halves.",
].join("\n");

interface SampleModel {
  id: string;
  prompt: string;
  completion: string;
  context: number;
  text: string;
  firstMs: number;
  tokenMs: number;
  abilities?: string;
}

const TOOLS = "{ tools: true, json_schema: true, vision: true, reasoning: true, logprobs: true, choices: 4 }";

export const SAMPLE_MODELS: readonly SampleModel[] = [
  {
    ...{ id: "qwen3-32b", prompt: "0.00000018", completion: "0.00000065", context: 131_072, text: SORTED },
    ...{ firstMs: 260, tokenMs: 9, abilities: TOOLS },
  },
  {
    ...{ id: "llama-3.3-70b", prompt: "0.00000035", completion: "0.0000011", context: 131_072, text: SHORT },
    ...{ firstMs: 480, tokenMs: 45, abilities: TOOLS },
  },
  {
    ...{ id: "gemma-3-12b", prompt: "0.00000006", completion: "0.00000018", context: 32_768, text: SHORT },
    ...{ firstMs: 120, tokenMs: 5, abilities: "{ vision: true, logprobs: true }" },
  },
];

const models = SAMPLE_MODELS.map(
  ({ id, prompt, completion, context, text, firstMs, tokenMs, abilities = "{}" }) => `
  - id: ${id}
    task: chat
    price: { prompt: "${prompt}", completion: "${completion}" }
    deployments:
      - engine: scripted
        context_window: ${context}
        slots: 8
        abilities: ${abilities}
        replies:
          - { text: ${JSON.stringify(text)}, delay_ms_before_first: ${firstMs}, delay_ms_per_token: ${tokenMs} }`,
);

export const SAMPLE_CONFIG = `
local: { load: on_demand }
models:${models.join("")}
`;
