import { fileURLToPath } from 'node:url';

/** The folder of manifests that users apply too. */
export const CLUSTER_EXAMPLES = fileURLToPath(new URL('../../../examples/cluster/', import.meta.url));
