import { waitFor } from './deadline.js';
import type { LabProcess } from './lab-process.js';

const READY_WITHIN_MS = 40_000;

/**
 * Resolves when the controller's status server reports that it is ready.
 * @throws Error with the controller's output when it ends, or is not ready within 40 s.
 */
export async function controllerReady(controller: LabProcess, url: string): Promise<void> {
  let answer = 'none';
  await waitFor(
    'the controller',
    async () => {
      if (controller.hasEnded) throw new Error(`the controller ended:\n${controller.lines.join('\n')}`);
      return fetch(`${url}/readyz`).then(
        async (response) => {
          answer = await response.text();
          return response.ok;
        },
        () => false,
      );
    },
    READY_WITHIN_MS,
  ).catch((error: unknown) => {
    throw new Error(`the last answer of /readyz: ${answer}`, { cause: error });
  });
}
