import { PodExecError, type PodName } from '../pod-exec/pod-exec-error.js';

/** The container name in Deployments of the controller, and in the Deployment of the chart. */
const AGENT_CONTAINERS = ['agent', 'vm-dhcp-controller-agent'];
const CHOICE = /choose one of: \[([^\]]*)\]/;

/**
 * Runs a command in the container of the agent. Usually it is the only container of the pod, and needs no name. If other
 * containers were added, the API server lists all of them.
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
