export const user = (content: string) => [{ role: "user", content }];
export const WEATHER = { type: "object", properties: { city: { type: "string" } } };
/** A model whose deployment answers, and one whose upstream has the format itself. */
export const MODELS = ["parrot", "native"];
