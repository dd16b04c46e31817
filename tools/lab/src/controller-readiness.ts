import { waitFor } from './deadline.js';
import type { LabProcess } from './lab-process.js';

const READY_WITHIN_MS = 20_000;

/**
 * Resolves when the controller's status server reports that it is ready.
 * @throws Error with the controller's output when it ends, or is not ready within 20 s.
 */
export async function controllerReady(controller: LabProcess, url: string): Promise<void> {
  await waitFor(
    'the controller',
    async () => {
      if (controller.hasEnded) throw new Error(`the controller ended:\n${controller.lines.join('\n')}`);
      return fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    READY_WITHIN_MS,
  );
}
