/** An upstream whose vectors say which words a text has: texts that share words are similar. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface WordEmbedder extends AsyncDisposable {
  url: string;
  /** Texts that it has embedded, in their order. */
  texts: string[];
  /** Requests that it has received. */
  readonly requests: number;
  /** Answers nothing while this is true. */
  isPaused: boolean;
}

const DIMENSIONS = 96;

export async function startWordEmbedder(): Promise<WordEmbedder> {
  const texts: string[] = [];
  const state = { isPaused: false, requests: 0 };
  const server = createServer(async (request, response) => {
    const { input } = (await json(request)) as { input: string[] };
    state.requests += 1;
    while (state.isPaused && !response.destroyed) await new Promise((resume) => setTimeout(resume, 10));
    texts.push(...input);
    const data = input.map((text, index) => ({ object: "embedding", index, embedding: embed(text) }));
    response.setHeader("content-type", "application/json");
    const tokens = input.join(" ").split(/\s+/).length;
    response.end(
      JSON.stringify({ object: "list", model: "words", data, usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    texts,
    get requests() {
      return state.requests;
    },
    get isPaused() {
      return state.isPaused;
    },
    set isPaused(isPaused) {
      state.isPaused = isPaused;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function embed(text: string): number[] {
  const vector = new Array<number>(DIMENSIONS).fill(0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 7;
    for (const character of word) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
    vector[hash % DIMENSIONS] = (vector[hash % DIMENSIONS] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
