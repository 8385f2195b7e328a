/** CAM++, a network that maps speech to a vector of its speaker's voice (Wang et al. 2023), as an ONNX graph. */

import { OnnxGraphBuilder, type Value } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { FFT_BINS, FRAME_SAMPLES, HOP_SAMPLES, MEL_BANDS, melWeights, spectrumKernel } from "./fbank-kernel.ts";
import type { TorchCheckpoint } from "./torch-checkpoint.ts";

/** Positions of 20 ms that share a context vector. */
const CONTEXT_POSITIONS = 100;
/** Layers and dilation of each dense block. */
const BLOCKS = [
  { layers: 12, dilation: 1 },
  { layers: 24, dilation: 2 },
  { layers: 16, dilation: 2 },
] as const;
/** Float32's machine epsilon, Kaldi's floor of energies. */
const LOWEST_ENERGY = 1.1920929e-7;

/** Number of positions for a number of samples, and the context that each belongs to. */
export function contextOfPositions(samples: number): number[] {
  const frames = Math.floor((samples - FRAME_SAMPLES) / HOP_SAMPLES) + 1;
  const positions = Math.floor((frames - 1) / 2) + 1;
  return Array.from({ length: positions }, (_, index) => Math.floor(index / CONTEXT_POSITIONS));
}

/** Maps `samples` and `contexts`, see `contextOfPositions`, to `embedding` [1, 192, 1]. */
export function campplusGraph(checkpoint: TorchCheckpoint, file: string): Uint8Array {
  const build = new CampplusBuilder(checkpoint, file);
  const { graph } = build;
  const samples = graph.input("samples", "float32", ["samples"]);
  const contexts = graph.input("contexts", "int64", ["positions"]);
  let hidden = build.residualHead(logMelEnergies(graph, samples));
  hidden = build.convolve("xvector.tdnn.linear", hidden, { kernel_shape: [5], pads: [2, 2], strides: [2] });
  hidden = build.normalizeAndRectify("xvector.tdnn.nonlinear.batchnorm", hidden);
  for (const [index, { layers, dilation }] of BLOCKS.entries()) {
    for (let layer = 1; layer <= layers; layer += 1) {
      const added = build.denseLayer(`xvector.block${index + 1}.tdnnd${layer}`, hidden, dilation, contexts);
      hidden = graph.node("Concat", [hidden, added], { axis: 1 });
    }
    const transit = `xvector.transit${index + 1}`;
    hidden = build.normalizeAndRectify(`${transit}.nonlinear.batchnorm`, hidden);
    hidden = build.convolve(`${transit}.linear`, hidden);
  }
  hidden = build.normalizeAndRectify("xvector.out_nonlinear.batchnorm", hidden);
  const pooled = build.convolve("xvector.dense.linear", statistics(graph, hidden));
  graph.output(build.normalizeWithoutScale("xvector.dense.nonlinear.batchnorm", pooled, 192), "embedding");
  return graph.toBytes();
}

/** [1, 1, 80, frames], with the mean of each band over time subtracted. */
function logMelEnergies(graph: OnnxGraphBuilder, samples: Value): Value {
  const shaped = graph.node("Reshape", [samples, graph.integers([1, 1, -1])]);
  const kernel = graph.floats(spectrumKernel(), [2 * FFT_BINS, 1, FRAME_SAMPLES]);
  const spectrum = graph.node("Conv", [shaped, kernel], { kernel_shape: [FRAME_SAMPLES], strides: [HOP_SAMPLES] });
  const squared = graph.node("Mul", [spectrum, spectrum]);
  const [real, imaginary] = graph.nodes("Split", [squared], 2, { axis: 1, num_outputs: 2 });
  const power = graph.node("Add", [real as Value, imaginary as Value]);
  const energies = graph.node("MatMul", [graph.floats(melWeights(), [MEL_BANDS, FFT_BINS]), power]);
  const logs = graph.node("Log", [graph.node("Max", [energies, graph.float(LOWEST_ENERGY)])]);
  const centered = graph.node("Sub", [logs, graph.node("ReduceMean", [logs, graph.integers([2])])]);
  return graph.node("Unsqueeze", [centered, graph.integers([1])]);
}

/** Mean and standard deviation over time: [1, 2 * channels, 1]. */
function statistics(graph: OnnxGraphBuilder, hidden: Value): Value {
  const time = graph.integers([2]);
  const mean = graph.node("ReduceMean", [hidden, time]);
  const difference = graph.node("Sub", [hidden, mean]);
  const sum = graph.node("ReduceSumSquare", [difference, time]);
  const positions = graph.node("Gather", [graph.node("Shape", [hidden]), graph.integers([2])]);
  const count = graph.toFloat(graph.node("Sub", [positions, graph.integers([1])]), "int64");
  return graph.node("Concat", [mean, graph.node("Sqrt", [graph.node("Div", [sum, count])])], { axis: 1 });
}

class CampplusBuilder {
  readonly graph: OnnxGraphBuilder;
  readonly #checkpoint: TorchCheckpoint;

  constructor(checkpoint: TorchCheckpoint, file: string) {
    this.graph = new OnnxGraphBuilder("campplus", file);
    this.#checkpoint = checkpoint;
  }

  /** Residual blocks of 2D convolutions over bands and frames: [1, 320, frames]. */
  residualHead(energies: Value): Value {
    const { graph } = this;
    let hidden = this.normalizeAndRectify("head.bn1", this.#convolve2d("head.conv1", energies, 1));
    for (const layer of ["head.layer1", "head.layer2"]) {
      hidden = this.#residual(`${layer}.0`, hidden, 2);
      hidden = this.#residual(`${layer}.1`, hidden, 1);
    }
    hidden = this.normalizeAndRectify("head.bn2", this.#convolve2d("head.conv2", hidden, 2));
    return graph.node("Reshape", [hidden, graph.integers([1, 320, -1])]);
  }

  /** Context-aware masking: a convolution whose channels are scaled by a summary of the recording and of the seconds around. */
  denseLayer(prefix: string, input: Value, dilation: number, contexts: Value): Value {
    const { graph } = this;
    const narrowed = this.convolve(
      `${prefix}.linear1`,
      this.normalizeAndRectify(`${prefix}.nonlinear1.batchnorm`, input),
    );
    const hidden = this.normalizeAndRectify(`${prefix}.nonlinear2.batchnorm`, narrowed);
    const attributes = { kernel_shape: [3], pads: [dilation, dilation], dilations: [dilation] };
    const local = this.convolve(`${prefix}.cam_layer.linear_local`, hidden, attributes);
    const averages = graph.node("AveragePool", [hidden], {
      kernel_shape: [CONTEXT_POSITIONS],
      strides: [CONTEXT_POSITIONS],
      ceil_mode: 1,
    });
    const around = graph.node("Gather", [averages, contexts], { axis: 2 });
    const context = graph.node("Add", [graph.node("ReduceMean", [hidden, graph.integers([2])]), around]);
    const squeezed = graph.node("Relu", [this.convolve(`${prefix}.cam_layer.linear1`, context, {}, true)]);
    const mask = graph.node("Sigmoid", [this.convolve(`${prefix}.cam_layer.linear2`, squeezed, {}, true)]);
    return graph.node("Mul", [local, mask]);
  }

  convolve(
    name: string,
    input: Value,
    attributes: Readonly<Record<string, readonly number[]>> = {},
    hasBias = false,
  ): Value {
    const inputs = [input, this.#weight(`${name}.weight`), ...(hasBias ? [this.#weight(`${name}.bias`)] : [])];
    return this.graph.node("Conv", inputs, attributes);
  }

  normalizeAndRectify(name: string, input: Value): Value {
    return this.graph.node("Relu", [this.#normalize(name, input)]);
  }

  normalizeWithoutScale(name: string, input: Value, channels: number): Value {
    const { graph } = this;
    const scale = graph.floats(new Float32Array(channels).fill(1), [channels]);
    const shift = graph.floats(new Float32Array(channels), [channels]);
    return this.#normalizeBy(name, input, scale, shift);
  }

  #residual(prefix: string, input: Value, stride: number): Value {
    const { graph } = this;
    const first = this.normalizeAndRectify(`${prefix}.bn1`, this.#convolve2d(`${prefix}.conv1`, input, stride));
    const second = this.#normalize(`${prefix}.bn2`, this.#convolve2d(`${prefix}.conv2`, first, 1));
    let shortcut = input;
    if (stride !== 1) {
      const narrowed = graph.node("Conv", [input, this.#weight(`${prefix}.shortcut.0.weight`)], {
        strides: [stride, 1],
      });
      shortcut = this.#normalize(`${prefix}.shortcut.1`, narrowed);
    }
    return graph.node("Relu", [graph.node("Add", [second, shortcut])]);
  }

  #convolve2d(name: string, input: Value, stride: number): Value {
    const attributes = { kernel_shape: [3, 3], pads: [1, 1, 1, 1], strides: [stride, 1] };
    return this.graph.node("Conv", [input, this.#weight(`${name}.weight`)], attributes);
  }

  #normalize(name: string, input: Value): Value {
    return this.#normalizeBy(name, input, this.#weight(`${name}.weight`), this.#weight(`${name}.bias`));
  }

  #normalizeBy(name: string, input: Value, scale: Value, shift: Value): Value {
    const inputs = [input, scale, shift, this.#weight(`${name}.running_mean`), this.#weight(`${name}.running_var`)];
    return this.graph.node("BatchNormalization", inputs, { epsilon: 1e-5 });
  }

  #weight(name: string): Value {
    return this.graph.weight(this.#checkpoint.tensor(name));
  }
}
