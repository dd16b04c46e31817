import { PodExecError, type PodName } from '../pod-exec/pod-exec-error.js';

/** Of the controller's Deployments, and of the one of the chart. */
const AGENT_CONTAINERS = ['agent', 'vm-dhcp-controller-agent'];
const CHOICE = /choose one of: \[([^\]]*)\]/;

/**
 * Runs a command in the container of the agent: the only one of the pod, as a rule, so that it needs no name. Where others were added to the
 * pod, the API server names all of them.
 */
export async function inAgentContainer<Result>(
  name: PodName,
  run: (container: PodName & { readonly container?: string }) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(name);
  } catch (error) {
    const names = error instanceof PodExecError ? CHOICE.exec(error.message)?.[1]?.split(' ') : undefined;
    const container = AGENT_CONTAINERS.find((one) => names?.includes(one));
    if (container === undefined) throw error;
    return await run({ ...name, container });
  }
}
