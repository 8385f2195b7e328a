/** Writes small ONNX files for tests of libraries that need a model. */

import { PbfWriter } from "pbf";

type ElementType = "float" | "int64";

export interface OnnxFile {
  metadata: Readonly<Record<string, string | number>>;
  inputs: Readonly<Record<string, ElementType>>;
  /** Nodes in execution order: operation, inputs, outputs, attributes. */
  nodes: readonly (readonly [string, readonly string[], string, Readonly<Record<string, number>>?])[];
  /** Constant vectors of one number. */
  constants: Readonly<Record<string, number>>;
  /** Outputs, all of floats. */
  output: string;
}

const OPSET = 13;
const IR_VERSION = 7;
const ELEMENT_TYPES = { float: 1, int64: 7 } as const;
const ATTRIBUTE_IS_INTEGER = 2;

type Write<T> = (value: T, pbf: PbfWriter) => void;

const writeValue: Write<readonly [string, ElementType]> = ([name, type], pbf) => {
  pbf.writeStringField(1, name);
  const writeTensor = (_: unknown, tensor: PbfWriter) => tensor.writeVarintField(1, ELEMENT_TYPES[type]);
  pbf.writeMessage(2, (_: unknown, own: PbfWriter) => own.writeMessage(1, writeTensor, undefined), undefined);
};

const writeConstant: Write<readonly [string, number]> = ([name, value], pbf) => {
  pbf.writeVarintField(1, 1);
  pbf.writeVarintField(2, ELEMENT_TYPES.float);
  pbf.writePackedFloat(4, [value]);
  pbf.writeStringField(8, name);
};

const writeAttribute: Write<readonly [string, number]> = ([name, value], pbf) => {
  pbf.writeStringField(1, name);
  pbf.writeVarintField(3, value);
  pbf.writeVarintField(20, ATTRIBUTE_IS_INTEGER);
};

const writeNode: Write<OnnxFile["nodes"][number]> = ([operation, reads, makes, attributes = {}], pbf) => {
  for (const name of reads) pbf.writeStringField(1, name);
  pbf.writeStringField(2, makes);
  pbf.writeStringField(4, operation);
  for (const attribute of Object.entries(attributes)) pbf.writeMessage(5, writeAttribute, attribute);
};

const writeGraph: Write<OnnxFile> = ({ nodes, constants, inputs, output }, pbf) => {
  for (const node of nodes) pbf.writeMessage(1, writeNode, node);
  pbf.writeStringField(2, "graph");
  for (const constant of Object.entries(constants)) pbf.writeMessage(5, writeConstant, constant);
  for (const input of Object.entries(inputs)) pbf.writeMessage(11, writeValue, input);
  pbf.writeMessage(12, writeValue, [output, "float"] as const);
};

/** Metadata to append to an ONNX file: bytes appended to a Protocol Buffers message are merged into it. */
export function onnxMetadata(metadata: OnnxFile["metadata"], pbf: PbfWriter = new PbfWriter()): Uint8Array {
  const write: Write<readonly [string, string | number]> = ([key, value], own) => {
    own.writeStringField(1, key);
    own.writeStringField(2, String(value));
  };
  for (const property of Object.entries(metadata)) pbf.writeMessage(14, write, property);
  return pbf.finish();
}

export function onnxFile(file: OnnxFile): Uint8Array {
  const pbf = new PbfWriter();
  pbf.writeVarintField(1, IR_VERSION);
  pbf.writeMessage(7, writeGraph, file);
  pbf.writeMessage(8, (version: number, own: PbfWriter) => own.writeVarintField(2, version), OPSET);
  return onnxMetadata(file.metadata, pbf);
}
