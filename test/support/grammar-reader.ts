import { getLlama, LlamaGrammar } from "node-llama-cpp";

/** llama.cpp's own reading of a grammar; it throws when it cannot read it. */
export async function openGrammarReader(): Promise<(grammar: string) => (text: string) => boolean> {
  const llama = await getLlama({ gpu: false, build: "never" });
  return (grammar) => {
    const read = new LlamaGrammar(llama, { grammar }) as unknown as { _testText(text: string): boolean };
    return (text) => read._testText(text);
  };
}
