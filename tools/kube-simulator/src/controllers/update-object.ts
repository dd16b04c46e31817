import type { ApiClient, ObjectPath } from '../api/api-client.js';
import type { ApiObject } from '../api-object.js';
import { isConflict } from './api-outcome.js';

const mostAttempts = 10;

/**
 * Reads, changes and writes an object; retries if another client wrote in between. Does nothing if the object is gone or `change` returns it
 * unchanged.
 */
export const updateObject = async <T extends ApiObject>(
  api: Pick<ApiClient, 'get' | 'update'>,
  path: ObjectPath,
  change: (live: T) => T,
): Promise<void> => {
  const { subresource: _subresource, ...main } = path;
  for (let attempt = 1; ; attempt += 1) {
    const live = api.get(main) as T | undefined;
    if (live === undefined) return;
    const changed = change(live);
    if (changed === live) return;
    try {
      await api.update(path, changed);
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === mostAttempts) throw error;
    }
  }
};
