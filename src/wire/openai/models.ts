/** GET /v1/models: one entry, and the list around them. */

export interface ListedModel {
  id: string;
  /** When it was added to the catalog, epoch milliseconds. */
  createdAt: number;
  ownedBy: string;
}

export function toModelEntry(model: ListedModel): Record<string, unknown> {
  return { id: model.id, object: "model", created: Math.floor(model.createdAt / 1000), owned_by: model.ownedBy };
}

export function toModelList(models: readonly ListedModel[]): Record<string, unknown> {
  return { object: "list", data: models.map(toModelEntry) };
}
