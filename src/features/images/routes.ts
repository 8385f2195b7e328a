import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { takeMultipart, takeMultipartOrJson } from "../../http/form-scopes.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes, scope } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import { receiveUpload, requireFile, type UploadOptions } from "../../http/upload.ts";
import type { Inference } from "../../inference/inference.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import { toImageBody, toImageEvents } from "../../wire/openai/images/image-answer.ts";
import { ImageEditEvent, ImageGenerationEvent, Images } from "../../wire/openai/images/image-answers.ts";
import {
  ImageEditBody,
  ImageEditFiles,
  ImageEditJsonBody,
  ImageGenerationBody,
  type ImageLimits,
  ImageVariationBody,
  ImageVariationFiles,
  type ParsedImages,
  readGeneration,
  readImageForm,
  readJsonEdit,
} from "../../wire/openai/images/image-body.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import type { FileStorage } from "../files/index.ts";
import { type InputImages, imageOfUpload, NO_INPUTS, readReferences } from "./input-images.ts";

export interface ImageParts {
  uploads: UploadOptions;
  resolver: FileStorage["resolver"];
  limits: ImageLimits & { maxInputImages: number };
  unknownFields: UnknownFieldsPolicy;
}

/** POST /v1/images/generations, /v1/images/edits and /v1/images/variations */
export function images(
  inference: Inference,
  { uploads, resolver, limits, unknownFields }: ImageParts,
): FastifyPluginAsync {
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    onLeave: OnDisconnect,
    { parsed, inputs }: { parsed: ParsedImages; inputs: InputImages },
  ) => {
    const model = parsed.model ?? inference.models.first(request.caller, "image");
    request.record.model = model;
    reportIgnoredFields(reply, parsed.ignoredFields);
    const image = { ...parsed.request, ...inputs, model, callerHeaders: request.headers };
    const { counted } = request.record;
    const generated = await inference.generateImages(request.caller, image, onLeave, { counted });
    const parts = { request: image, created: Math.floor(generated.createdAt / 1000) };
    if (parsed.request.stream) return sendAnswer(reply, generated, { events: toImageEvents(generated.events, parts) });
    return sendAnswer(reply, generated, { body: toImageBody(generated.events, { ...parts, asUrl: parsed.asUrl }) });
  };
  const answerForm = async (request: FastifyRequest, reply: FastifyReply, kind: "edit" | "variation") => {
    const onLeave = onDisconnect(reply);
    const fileFields: Record<string, number> =
      kind === "edit" ? { image: limits.maxInputImages, mask: 1 } : { image: 1 };
    const upload = await receiveUpload(request, reply, { ...uploads, fileFields });
    const parsed = readImageForm(kind, upload.fields, limits, unknownFields);
    requireFile({ ...upload, file: upload.files.find(({ field }) => field === "image") }, "image");
    const files = await Promise.all(upload.files.map(imageOfUpload));
    const inputs = {
      images: files.filter((_file, index) => upload.files[index]?.field === "image"),
      mask: files.find((_file, index) => upload.files[index]?.field === "mask"),
    };
    return answer(request, reply, onLeave, { parsed, inputs });
  };
  const answerJsonEdit = async (request: FastifyRequest, reply: FastifyReply) => {
    const onLeave = onDisconnect(reply);
    const { images, mask, ...parsed } = readJsonEdit(request.body, limits, unknownFields);
    const { caller } = request;
    const model = parsed.model ?? inference.models.first(caller, "image");
    // Nothing is read for a model that the request itself will refuse.
    const isAnswered = inference.models.taskOf(caller, model) === "image";
    const admit = async () => {
      request.record.counted = await inference.countEarly(caller, model, "image");
    };
    const inputs = isAnswered ? await readReferences(reply, { images, mask }, { resolver, admit }) : NO_INPUTS;
    return answer(request, reply, onLeave, { parsed, inputs });
  };

  return routes(
    rawOperation(
      "POST /images/generations",
      {
        summary: "Generates images from a prompt.",
        tag: "Images",
        permission: "project",
        counts: "by-handler",
        body: ImageGenerationBody,
        answer: Images,
        content: ["text/event-stream"],
        events: ImageGenerationEvent,
      },
      (request, reply) => {
        const parsed = readGeneration(request.body, limits, unknownFields);
        return answer(request, reply, onDisconnect(reply), { parsed, inputs: NO_INPUTS });
      },
    ),
    scope(
      takeMultipartOrJson,
      rawOperation(
        "POST /images/edits",
        {
          summary:
            "Edits images by a prompt, within a mask if there is one: uploads, or in JSON addresses, data URLs and files.",
          tag: "Images",
          permission: "project",
          counts: "by-handler",
          body: ImageEditJsonBody,
          form: ImageEditBody,
          files: ImageEditFiles,
          answer: Images,
          content: ["text/event-stream"],
          events: ImageEditEvent,
        },
        (request, reply) =>
          request.body === undefined ? answerForm(request, reply, "edit") : answerJsonEdit(request, reply),
      ),
    ),
    scope(
      takeMultipart,
      rawOperation(
        "POST /images/variations",
        {
          summary: "Generates variations of an image.",
          tag: "Images",
          permission: "project",
          counts: "by-handler",
          form: ImageVariationBody,
          files: ImageVariationFiles,
          answer: Images,
        },
        (request, reply) => answerForm(request, reply, "variation"),
      ),
    ),
  );
}
