import { PbfReader } from "pbf";

/** Field of ONNX's `ModelProto` with pairs of texts, whose fields are 1 and 2. */
const METADATA = 14;

/** Reads the characters that a recognition model knows, one a line in its metadata `character`. Throws where they are missing. */
export function modelCharacters(model: Uint8Array): string[] {
  let characters: string | undefined;
  const readPair = (tag: number, pair: { name?: string; value?: string }, reader: PbfReader) => {
    if (tag === 1) pair.name = reader.readString();
    if (tag === 2) pair.value = reader.readString();
  };
  const readModel = (tag: number, _result: object, reader: PbfReader) => {
    if (tag !== METADATA) return;
    const pair = reader.readMessage(readPair, {} as { name?: string; value?: string });
    if (pair.name === "character") characters = pair.value;
  };
  new PbfReader(model).readFields(readModel, {});
  if (characters === undefined) throw new Error("The recognition model has no metadata 'character'.");
  return characters.split("\n").filter((character) => character !== "");
}
