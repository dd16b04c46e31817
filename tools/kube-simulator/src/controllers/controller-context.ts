import type { ApiClient } from '../api/api-client.js';
import type { ResourceType } from '../resources/resource-type.js';

/** The dependencies of every controller. */
export interface ControllerContext {
  readonly api: ApiClient;
  /** The kinds that are served now. */
  readonly types: () => readonly ResourceType[];
  readonly typeOf: (apiVersion: string, kind: string) => ResourceType | undefined;
  /** Called for failures that are retried. */
  readonly onError: (error: unknown, key?: string) => void;
}
