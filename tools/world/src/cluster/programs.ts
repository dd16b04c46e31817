/** The programs of a version: during an upgrade, those of two versions run beside each other. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AgentPod } from './agent-pod.js';
import { ControllerRun } from './controller-run.js';
import { WebhookRun } from './webhook-run.js';

export interface Programs {
  readonly AgentPod: typeof AgentPod;
  readonly ControllerRun: typeof ControllerRun;
  readonly WebhookRun: typeof WebhookRun;
}

export const OWN_PROGRAMS: Programs = { AgentPod, ControllerRun, WebhookRun };

/** The programs of another checkout, with all that they import. @throws if it is not built, or its worlds have not had these programs yet. */
export async function programsOf(folder: string): Promise<Programs> {
  const load = async (file: string) => await import(pathToFileURL(resolve(folder, 'tools/world/dist/cluster', file)).href);
  const files = ['agent-pod.js', 'controller-run.js', 'webhook-run.js'];
  return Object.assign({}, ...(await Promise.all(files.map(load)))) as Programs;
}
