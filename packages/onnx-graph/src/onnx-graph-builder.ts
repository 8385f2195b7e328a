/** Builds an ONNX model whose weights stay in an external file. */

import { PbfWriter } from "pbf";

/** Name of an edge in the graph. */
export type Value = string;
export type Attribute = number | readonly number[] | string;

export type ElementType = "float32" | "float16" | "bfloat16" | "int8";

/** Where a tensor lies in the weight file. */
export interface StoredTensor {
  dims: readonly number[];
  type: ElementType;
  /** From the beginning of the file. */
  offset: number;
  bytes: number;
}

const IR_VERSION = 9;
/** The first opset with Gelu. */
const OPSET = 20;
/** Operators that ONNX Runtime contributes. */
const CONTRIB_DOMAIN = "com.microsoft";
const CONTRIB_OPSET = 1;
/** TensorProto.DataType */
const ELEMENT = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, float16: 10, bfloat16: 16 } as const;
/** AttributeProto.AttributeType */
const ATTRIBUTE_TYPE = { float: 1, integer: 2, text: 3, integers: 7 } as const;
/** TensorProto.DataLocation */
const EXTERNAL = 1;

type Message = (writer: PbfWriter) => void;

export class OnnxGraphBuilder {
  readonly #name: string;
  readonly #file: string;
  readonly #nodes: Message[] = [];
  readonly #initializers: Message[] = [];
  readonly #inputs: Message[] = [];
  readonly #outputs: Message[] = [];
  #count = 0;

  /** `file` names the weight file, relative to the session's folder for external initializers. */
  constructor(name: string, file: string) {
    this.#name = name;
    this.#file = file;
  }

  input(name: string, type: "float32" | "int32" | "int64", dims: readonly (number | string)[]): Value {
    this.#inputs.push(valueInfo(name, ELEMENT[type], dims));
    return name;
  }

  output(value: Value, name: string, type: "float32" | "int32" | "int64" = "float32"): void {
    this.#nodes.push(node("Identity", [value], [name], {}));
    this.#outputs.push(valueInfo(name, ELEMENT[type], undefined));
  }

  /** A tensor of the file, cast to float32. */
  weight(tensor: StoredTensor): Value {
    return this.toFloat(this.stored(tensor), tensor.type);
  }

  /** A tensor of the file in its stored type. */
  stored({ dims, type, offset, bytes }: StoredTensor): Value {
    const name = this.#newName();
    this.#initializers.push((writer) => {
      writeTensorHead(writer, name, ELEMENT[type], dims);
      const location = { location: this.#file, offset: String(offset), length: String(bytes) };
      for (const [key, value] of Object.entries(location)) writer.writeMessage(13, writeEntry, { key, value });
      writer.writeVarintField(14, EXTERNAL);
    });
    return name;
  }

  toFloat(value: Value, type: ElementType | "int32" | "int64"): Value {
    return type === "float32" ? value : this.node("Cast", [value], { to: ELEMENT.float32 });
  }

  floats(values: Float32Array, dims: readonly number[]): Value {
    return this.#constant(ELEMENT.float32, new Uint8Array(values.buffer, values.byteOffset, values.byteLength), dims);
  }

  bytes(values: Uint8Array, dims: readonly number[]): Value {
    return this.#constant(ELEMENT.uint8, values, dims);
  }

  float(value: number): Value {
    return this.floats(Float32Array.of(value), []);
  }

  integers(values: readonly number[]): Value {
    const elements = BigInt64Array.from(values, BigInt);
    return this.#constant(ELEMENT.int64, new Uint8Array(elements.buffer), [values.length]);
  }

  /** A name such as `com.microsoft.MultiHeadAttention` is a contributed operator. Writes whole numbers as integer attributes and other numbers as float attributes. */
  node(operator: string, inputs: readonly Value[], attributes: Readonly<Record<string, Attribute>> = {}): Value {
    const [first] = this.nodes(operator, inputs, 1, attributes);
    return first as Value;
  }

  nodes(
    operator: string,
    inputs: readonly Value[],
    outputs: number,
    attributes: Readonly<Record<string, Attribute>> = {},
  ): Value[] {
    const names = Array.from({ length: outputs }, () => this.#newName());
    this.#nodes.push(node(operator, inputs, names, attributes));
    return names;
  }

  toBytes(): Uint8Array {
    const writer = new PbfWriter();
    writer.writeVarintField(1, IR_VERSION);
    writer.writeMessage(
      7,
      (_: undefined, graph: PbfWriter) => {
        for (const each of this.#nodes) graph.writeMessage(1, run, each);
        graph.writeStringField(2, this.#name);
        for (const each of this.#initializers) graph.writeMessage(5, run, each);
        for (const each of this.#inputs) graph.writeMessage(11, run, each);
        for (const each of this.#outputs) graph.writeMessage(12, run, each);
      },
      undefined,
    );
    writer.writeMessage(8, writeOpset, { domain: "", version: OPSET });
    writer.writeMessage(8, writeOpset, { domain: CONTRIB_DOMAIN, version: CONTRIB_OPSET });
    return writer.finish();
  }

  #constant(element: number, bytes: Uint8Array, dims: readonly number[]): Value {
    const name = this.#newName();
    this.#initializers.push((writer) => {
      writeTensorHead(writer, name, element, dims);
      writer.writeBytesField(9, bytes);
    });
    return name;
  }

  #newName(): Value {
    this.#count += 1;
    return `v${this.#count}`;
  }
}

function run(message: Message, writer: PbfWriter): void {
  message(writer);
}

function writeOpset({ domain, version }: { domain: string; version: number }, writer: PbfWriter): void {
  writer.writeStringField(1, domain);
  writer.writeVarintField(2, version);
}

function writeEntry({ key, value }: { key: string; value: string }, writer: PbfWriter): void {
  writer.writeStringField(1, key);
  writer.writeStringField(2, value);
}

function writeTensorHead(writer: PbfWriter, name: string, element: number, dims: readonly number[]): void {
  for (const dim of dims) writer.writeVarintField(1, dim);
  writer.writeVarintField(2, element);
  writer.writeStringField(8, name);
}

/** Writes a NodeProto. */
export function node(
  operator: string,
  inputs: readonly Value[],
  outputs: readonly Value[],
  attributes: Readonly<Record<string, Attribute>>,
): Message {
  return (writer) => {
    for (const input of inputs) writer.writeStringField(1, input);
    for (const output of outputs) writer.writeStringField(2, output);
    const isContributed = operator.startsWith(`${CONTRIB_DOMAIN}.`);
    writer.writeStringField(4, isContributed ? operator.slice(CONTRIB_DOMAIN.length + 1) : operator);
    if (isContributed) writer.writeStringField(7, CONTRIB_DOMAIN);
    for (const [name, value] of Object.entries(attributes)) {
      writer.writeMessage(5, writeAttribute, { name, value });
    }
  };
}

function writeAttribute({ name, value }: { name: string; value: Attribute }, writer: PbfWriter): void {
  writer.writeStringField(1, name);
  if (typeof value === "string") {
    writer.writeStringField(4, value);
    writer.writeVarintField(20, ATTRIBUTE_TYPE.text);
  } else if (typeof value !== "number") {
    for (const each of value) writer.writeVarintField(8, each);
    writer.writeVarintField(20, ATTRIBUTE_TYPE.integers);
  } else if (Number.isInteger(value)) {
    writer.writeVarintField(3, value);
    writer.writeVarintField(20, ATTRIBUTE_TYPE.integer);
  } else {
    writer.writeFloatField(2, value);
    writer.writeVarintField(20, ATTRIBUTE_TYPE.float);
  }
}

function valueInfo(name: string, element: number, dims: readonly (number | string)[] | undefined): Message {
  const writeDim = (dim: number | string, writer: PbfWriter) =>
    typeof dim === "number" ? writer.writeVarintField(1, dim) : writer.writeStringField(2, dim);
  const writeShape = (all: readonly (number | string)[], writer: PbfWriter) => {
    for (const dim of all) writer.writeMessage(1, writeDim, dim);
  };
  const writeTensor = (_: undefined, writer: PbfWriter) => {
    writer.writeVarintField(1, element);
    if (dims !== undefined) writer.writeMessage(2, writeShape, dims);
  };
  return (writer) => {
    writer.writeStringField(1, name);
    writer.writeMessage(2, (_: undefined, type: PbfWriter) => type.writeMessage(1, writeTensor, undefined), undefined);
  };
}
