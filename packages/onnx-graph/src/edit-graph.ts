/** Edits the graph of an ONNX model field by field, without decoding its weights. */

import { PbfReader, PbfWriter } from "pbf";

/** Fields of ModelProto, GraphProto and NodeProto. */
const GRAPH = 7;
export const NODE = 1;
export const INITIALIZER = 5;
export const OUTPUT = 12;
export const NODE_INPUT = 1;
export const NODE_OUTPUT = 2;
export const NODE_OPERATOR = 4;
export const NODE_ATTRIBUTE = 5;
const LENGTH_DELIMITED = 2;

/** A field of a protobuf message. */
export interface Field {
  number: number;
  /** With its tag and length. */
  bytes: Uint8Array;
  /** Without them; empty for numbers. */
  content: Uint8Array;
}

/** Returns the fields of a graph as they shall be. */
export type GraphEdit = (fields: readonly Field[]) => Field[];

/** Applies edits to the graph of a model, one after the other. */
export function editGraph(model: Uint8Array, ...edits: readonly GraphEdit[]): Uint8Array {
  const parts = fieldsOf(model).flatMap(({ number, bytes, content }) => {
    if (number !== GRAPH) return [bytes];
    const fields = edits.reduce((edited, edit) => edit(edited), fieldsOf(content));
    const graph = fields.map((field) => field.bytes);
    return [header(GRAPH, graph), ...graph];
  });
  return Buffer.concat(parts);
}

/** Splits a message into its fields, which share its memory. */
export function fieldsOf(bytes: Uint8Array): Field[] {
  const reader = new PbfReader(bytes);
  const fields: Field[] = [];
  while (reader.pos < reader.length) {
    const start = reader.pos;
    const tag = reader.readVarint();
    let content = bytes.subarray(0, 0);
    if ((tag & 7) === LENGTH_DELIMITED) {
      const length = reader.readVarint();
      content = bytes.subarray(reader.pos, reader.pos + length);
      reader.pos += length;
    } else reader.skip(tag);
    fields.push({ number: tag >> 3, bytes: bytes.subarray(start, reader.pos), content });
  }
  return fields;
}

/** Returns the texts in the fields of this number. */
export function textsOf(fields: readonly Field[], number: number): string[] {
  return fields.filter((field) => field.number === number).map(({ content }) => Buffer.from(content).toString());
}

/** Makes a field that consists of `parts`. */
export function fieldOf(number: number, parts: readonly Uint8Array[]): Field {
  const content = Buffer.concat(parts);
  return { number, bytes: Buffer.concat([header(number, [content]), content]), content };
}

export function message(write: (writer: PbfWriter) => void): Uint8Array {
  const writer = new PbfWriter();
  write(writer);
  return writer.finish();
}

/** Tag and length of a field that consists of `parts`. */
function header(number: number, parts: readonly Uint8Array[]): Uint8Array {
  return message((writer) => {
    writer.writeVarint((number << 3) | LENGTH_DELIMITED);
    writer.writeVarint(parts.reduce((sum, { length }) => sum + length, 0));
  });
}
