/**
 * The validated settings of the service, frozen: those of parlance.yaml by their names in camelCase, overridden by the
 * environment. Each part adds its section where its schema is; `config` builds the object and adds what it derives.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the parts add its members.
export interface Settings {}
