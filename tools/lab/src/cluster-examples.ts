import { fileURLToPath } from 'node:url';

/** Where manifests are that a user applies too. */
export const CLUSTER_EXAMPLES = fileURLToPath(new URL('../../../examples/cluster/', import.meta.url));
