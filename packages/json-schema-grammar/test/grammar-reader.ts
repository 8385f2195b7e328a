import { getLlama, LlamaGrammar } from "node-llama-cpp";

/** Tests strings against a grammar with llama.cpp itself. Throws when llama.cpp cannot parse the grammar. */
export async function openGrammarReader(): Promise<(grammar: string) => (text: string) => boolean> {
  const llama = await getLlama({ gpu: false, build: "never" });
  return (grammar) => {
    const read = new LlamaGrammar(llama, { grammar }) as unknown as { _testText(text: string): boolean };
    return (text) => read._testText(text);
  };
}
