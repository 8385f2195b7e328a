/** A model `org/caller` that calls tools, thinks, writes JSON, counts and fails, for tests of chat formats. */
export const SCRIPTED_CALLER = `
  - id: org/caller
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments:
      - engine: scripted
        abilities: { tools: true, reasoning: true, vision: true, json_schema: true, logprobs: true, choices: 4 }
        replies:
          - { match: weather, match_tool: sunny, text: It is sunny. }
          - match: weather
            text: Let me look.
            tool_calls: [{ name: weather, arguments: { city: Łódź, days: 2 } }, { name: weather, arguments: { city: Kraków } }]
          - { match: ponder, reasoning: I have to think., text: Done. }
          - { match: Jane, text: '{"name": "Jane"}' }
          - { match: count, text: one two three four }
          - { match: breaks, text: one two three, fail_after_tokens: 2, fail_with: { kind: upstream-failed, message: Down. } }
        echo: true
`;
