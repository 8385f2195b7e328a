import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { lockName, type WantedModel } from "./wanted-model.ts";

/** Paths inside the store. Temporary folders are on the same disk, which makes finishing a file a rename. */
export class StoreFolders {
  readonly root: string;
  readonly temporaryRoot: string;
  readonly #lockRoot: string;

  constructor(root: string) {
    this.root = root;
    this.temporaryRoot = join(root, ".partial");
    this.#lockRoot = join(root, ".locks");
  }

  modelFolder({ folder }: WantedModel): string {
    return join(this.root, ...folder.split("/"));
  }

  temporary({ id }: WantedModel): string {
    return join(this.temporaryRoot, lockName(id));
  }

  async lockPath({ id }: WantedModel): Promise<string> {
    return this.lockPathByName(lockName(id));
  }

  async lockPathByName(name: string): Promise<string> {
    await mkdir(this.#lockRoot, { recursive: true });
    return join(this.#lockRoot, `${name}.lock`);
  }
}
