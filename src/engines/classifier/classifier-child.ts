/** The classifier in a process of its own. */

import type { HostedModule } from "../host/model-child.ts";
import { Classifier, type ClassifierOptions } from "./classifier.ts";

export const open: HostedModule["open"] = (settings) => Classifier.open(settings as ClassifierOptions);
