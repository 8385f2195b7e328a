/** A network that is opened by the first request that needs it, so that others take no memory for it. */

interface Closable {
  close(): Promise<void>;
}

export class OpenedWhenUsed<Network extends Closable> {
  readonly #open: () => Promise<Network>;
  #network: Promise<Network> | undefined;

  constructor(open: () => Promise<Network>) {
    this.#open = open;
  }

  /** Requests share one opening; after one that failed, the next request tries again. */
  async get(): Promise<Network> {
    const network = this.#network ?? this.#open();
    this.#network = network;
    try {
      return await network;
    } catch (error) {
      if (this.#network === network) this.#network = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    // One that could not be opened has failed its requests.
    const network = await this.#network?.catch(() => undefined);
    await network?.close();
  }
}
