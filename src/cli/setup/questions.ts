/** Questions of a conversation in the terminal. */

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { Fault } from "../../kernel/faults.ts";

export interface Questions extends Disposable {
  /** Resolves with the index of the choice; the first is suggested. */
  choose(question: string, choices: readonly string[]): Promise<number>;
  /** Resolves with a line; empty for none. */
  line(question: string): Promise<string>;
  /** Like `line`, without showing what is typed. */
  secret(question: string): Promise<string>;
}

/** Asks in the terminal. Throws a Fault without one. */
export function askInTerminal(): Questions {
  if (!process.stdin.isTTY) {
    throw new Fault(
      "invalid-request",
      "There is no terminal to ask in: add --yes, and options for what differs from the suggestions (parlance setup --help).",
    );
  }
  let isHidden = false;
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (!isHidden) process.stdout.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const stopping = new AbortController();
  // Ctrl-C and Ctrl-D end the conversation: nothing has been changed yet.
  lines.once("close", () => stopping.abort(new Fault("client-left", "Nothing was changed.")));
  lines.once("SIGINT", () => lines.close());
  const question = async (text: string) => {
    const { signal } = stopping;
    const answer = await lines.question(text, { signal }).catch((failure: unknown) => {
      throw signal.aborted ? signal.reason : failure;
    });
    return answer.trim();
  };
  return {
    choose: async (text, choices) => {
      const list = choices.map((choice, index) => `  ${index + 1}  ${choice}\n`).join("");
      for (;;) {
        const answer = await question(`\n${text}\n${list}Number [1]: `);
        const number = answer === "" ? 1 : Number(answer);
        if (Number.isInteger(number) && number >= 1 && number <= choices.length) return number - 1;
        process.stdout.write(`Type a number from 1 to ${choices.length}.\n`);
      }
    },
    line: (text) => question(`\n${text}`),
    secret: async (text) => {
      process.stdout.write(`\n${text}`);
      isHidden = true;
      try {
        return await question("");
      } finally {
        isHidden = false;
        process.stdout.write("\n");
      }
    },
    [Symbol.dispose]: () => {
      lines.removeAllListeners("close");
      lines.close();
    },
  };
}
