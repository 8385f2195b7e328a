/** What a request is charged. */

import type { ResolvedModel } from "../catalog/catalog.ts";
import { isPriced } from "../catalog/prices/cost.ts";
import { undatedModel } from "../catalog/prices/price-list.ts";
import { type Charge, NO_PRICE, type Price } from "../contracts/price.ts";
import type { Deployment } from "../deployments/deployment.ts";

const NO_FACTORS: readonly string[] = [];

/** Charge of a request that was sent nowhere. */
export const NO_CHARGE: Charge = { price: NO_PRICE, factors: NO_FACTORS };

/** Returns the model's price, or else its deployment's, with their discounts and surcharges. */
export function chargeOf(
  project: string,
  { id, model }: ResolvedModel,
  { routingOptions }: Pick<Deployment, "routingOptions">,
): Charge {
  const { priceFactor } = routingOptions;
  const ofDeployment = deploymentPrice(id, routingOptions);
  const price = isPriced(model.price) ? model.price : ofDeployment;
  const projectFactor = model.projectFactors?.[project];
  const factors = priceFactor === undefined ? NO_FACTORS : [priceFactor];
  if (projectFactor === undefined && (price === ofDeployment || !isPriced(ofDeployment))) return { price, factors };
  const deploymentCharge = { price: isPriced(ofDeployment) ? ofDeployment : price, factors };
  return { price, factors: projectFactor === undefined ? factors : [...factors, projectFactor], deploymentCharge };
}

/** Returns all charges that a request to one of these models may have. */
export function chargesOf(project: string, candidates: readonly ResolvedModel[]): Charge[] {
  return candidates.flatMap((candidate) => {
    const { deployments } = candidate.model;
    if (deployments.length > 0) return deployments.map((deployment) => chargeOf(project, candidate, deployment));
    // All endpoints of its pools have left for now.
    return [{ price: candidate.model.price, factors: NO_FACTORS }];
  });
}

function deploymentPrice(id: string, { price, wildcardPrices }: Deployment["routingOptions"]): Price {
  if (wildcardPrices === undefined || isPriced(price)) return price;
  const name = [id, undatedModel(id)].find((each) => Object.hasOwn(wildcardPrices, each));
  return name === undefined ? price : (wildcardPrices[name] as Price);
}
