/** Faults of programs, nodes, networks and the API server. */
import { AGENT_GROUP_LABEL } from '@vmdhcp/ippool-api/agent';
import { AGENT_NAMESPACE, UNIFIED_DEPLOYMENT } from '../cluster/controller-run.js';
import { FAIR } from '../cluster/world.js';
import { GOOD_LINKS } from '../network/segment.js';
import { type Act, chance, one, type Scene } from './scene.js';

const LEASES = { group: 'coordination.k8s.io', resource: 'leases', namespace: AGENT_NAMESPACE };
const DEPLOYMENTS = { group: 'apps', resource: 'deployments', namespace: AGENT_NAMESPACE };

function somePod(scene: Scene) {
  return one(scene, scene.world.livePods);
}

/** A random object that the controller created. */
function someDeployment(scene: Scene): string | undefined {
  const made = scene.world.simulator.client.list(DEPLOYMENTS);
  return one(
    scene,
    made.filter(({ metadata }) => metadata.name !== UNIFIED_DEPLOYMENT),
  )?.metadata.name;
}

export const FAULTS: Readonly<Record<string, Act>> = {
  'kill an agent': (scene) => {
    const pod = somePod(scene);
    pod?.stop(0);
    return pod && `agent ${pod.name} is killed`;
  },
  'freeze an agent': (scene) => {
    const pod = somePod(scene);
    const ms = 200 + scene.world.random(20_000);
    pod?.agent.process.freeze(ms);
    return pod && `agent ${pod.name} is frozen for ${ms} ms`;
  },
  'delete a pod': async (scene) => {
    const pod = somePod(scene);
    if (pod === undefined) return undefined;
    const path = { resource: 'pods', namespace: AGENT_NAMESPACE, name: pod.name };
    await scene.world.simulator.client.delete(path).catch(() => undefined);
    return `pod ${pod.name} is deleted`;
  },
  'kill an agent for Wake-on-LAN': (scene) => {
    const agent = one(scene, scene.world.wakeAgents);
    agent?.stop(0);
    return agent && `agent ${agent.name} is killed`;
  },
  'freeze an agent for Wake-on-LAN': (scene) => {
    const agent = one(scene, scene.world.wakeAgents);
    const ms = 200 + scene.world.random(20_000);
    agent?.process.freeze(ms);
    return agent && `agent ${agent.name} is frozen for ${ms} ms`;
  },
  'stall an agent in a call to its kernel': (scene) => {
    const pod = somePod(scene);
    if (pod === undefined) return undefined;
    const { kernel } = pod.agent;
    const ms = 100 + scene.world.random(4_000);
    // One at a time: nothing helps a process that is frozen in its call, and again before it can undo it.
    kernel.callMs = () => {
      kernel.callMs = () => 1;
      return ms;
    };
    return `the next call to the kernel of ${pod.name} takes ${ms} ms`;
  },
  'lose an interface': (scene) => {
    const pod = somePod(scene);
    const interfaceName = pod && one(scene, [...pod.segments.keys()]);
    if (pod === undefined || interfaceName === undefined) return undefined;
    pod.agent.kernel.removeLink(interfaceName);
    scene.later(5_000, () => pod.agent.kernel.addLink(interfaceName));
    return `${pod.name} loses ${interfaceName}, and gets another one of that name`;
  },
  'delete a Deployment': async (scene) => {
    const { client } = scene.world.simulator;
    const name = someDeployment(scene);
    if (name === undefined) return undefined;
    await client.delete({ ...DEPLOYMENTS, name }, { propagationPolicy: 'Background' }).catch(() => undefined);
    return `somebody deletes Deployment ${name}`;
  },
  'edit a Deployment': async (scene) => {
    const { client } = scene.world.simulator;
    const name = someDeployment(scene);
    if (name === undefined) return undefined;
    const replicas = scene.world.random(4);
    await client.patch({ ...DEPLOYMENTS, name }, { type: 'merge', body: { spec: { replicas } } }).catch(() => undefined);
    return `somebody scales Deployment ${name} to ${replicas}`;
  },
  'delete rights of agents': async (scene) => {
    const { client } = scene.world.simulator;
    const resource = chance(scene, 50) ? 'roles' : 'rolebindings';
    const path = { group: 'rbac.authorization.k8s.io', resource, namespace: AGENT_NAMESPACE };
    // The controller's own rights come with the chart, so nothing would create them again.
    const made = client.list(path, { labelSelector: AGENT_GROUP_LABEL });
    const name = one(scene, made)?.metadata.name;
    if (name === undefined) return undefined;
    await client.delete({ ...path, name }).catch(() => undefined);
    return `somebody deletes one of ${resource}: ${name}`;
  },
  'restart the API server': async (scene) => {
    await scene.world.restartApi();
    return 'the API server restarts';
  },
  'kill a node': (scene) => {
    const node = one(scene, scene.world.nodes) as string;
    const { nodes } = scene.world.simulator;
    for (const pod of scene.world.livePods) if (pod.node === node) pod.loseInterfaces();
    void nodes.powerOff(node).catch(() => undefined);
    scene.later(90_000, () => void nodes.reconnect(node).catch(() => undefined));
    return `${node} loses power`;
  },
  'cut a node off from the API server': (scene) => {
    const node = one(scene, scene.world.nodes) as string;
    scene.world.cutNodes.add(node);
    scene.later(45_000, () => scene.world.cutNodes.delete(node));
    return `${node} cannot reach the API server`;
  },
  'cut everybody off from the API server': (scene) => {
    for (const node of scene.world.nodes) scene.world.cutNodes.add(node);
    scene.later(30_000, () => scene.world.cutNodes.clear());
    return 'nobody can reach the API server';
  },
  'cut a node off from its networks': (scene) => {
    const node = one(scene, scene.world.nodes) as string;
    const cut = (isCut: boolean) => {
      for (const segment of scene.world.segments.values()) segment.cutOff(node, isCut);
    };
    cut(true);
    scene.later(45_000, () => cut(false));
    return `${node} is cut off from its networks`;
  },
  'lose frames': (scene) => {
    const segment = one(scene, [...scene.world.segments.values()]);
    if (segment === undefined) return undefined;
    segment.quality = {
      lossPerMille: 50 + scene.world.random(400),
      repeatPerMille: scene.world.random(300),
      mostDelayMs: 5 + scene.world.random(400),
    };
    scene.later(60_000, () => {
      segment.quality = GOOD_LINKS;
    });
    const { lossPerMille, repeatPerMille, mostDelayMs } = segment.quality;
    return `${segment.name} loses ${lossPerMille / 10} %, repeats ${repeatPerMille / 10} % and delays up to ${mostDelayMs} ms`;
  },
  'make the API server slow': (scene) => {
    scene.world.weather = {
      mostLatencyMs: 20 + scene.world.random(1_500),
      mostWatchLagMs: 20 + scene.world.random(10_000),
      lossPerMille: scene.world.random(150),
      hangsPerMille: 0,
    };
    scene.later(60_000, () => {
      scene.world.weather = FAIR;
    });
    const { mostLatencyMs, mostWatchLagMs, lossPerMille } = scene.world.weather;
    return `the API server answers within ${mostLatencyMs} ms, its watches lag ${mostWatchLagMs} ms, ${lossPerMille / 10} % of requests are lost`;
  },
  'hang watches': (scene) => {
    const hangsPerMille = 20 + scene.world.random(200);
    scene.world.weather = { ...FAIR, hangsPerMille };
    scene.later(10_000, () => {
      scene.world.weather = FAIR;
    });
    return `for 10 s, ${hangsPerMille / 10} % of the events of watches make their watch hang`;
  },
  'break watches': (scene) => {
    const how = one(scene, ['break', 'end', 'expire'] as const) ?? 'break';
    const many = scene.world.simulator.disturbWatches(how);
    if (chance(scene, 50)) scene.world.simulator.compact();
    return `${many} watches: ${how}`;
  },
  'kill a controller': (scene) => {
    const index = scene.world.random(2);
    scene.world.restartController(index, 500 + scene.world.random(8_000));
    return `controller ${index} is killed`;
  },
  'kill all controllers': (scene) => {
    const ms = 500 + scene.world.random(40_000);
    for (const index of [0, 1]) scene.world.restartController(index, ms);
    return `both controllers are killed, for ${ms} ms`;
  },
  'freeze a controller': (scene) => {
    const controller = one(scene, scene.world.controllers);
    const ms = 500 + scene.world.random(40_000);
    controller?.process.freeze(ms);
    return controller && `a controller is frozen for ${ms} ms`;
  },
  'kill a webhook': (scene) => {
    const index = scene.world.random(2);
    scene.world.restartWebhook(index, 500 + scene.world.random(8_000));
    return `webhook ${index} is killed`;
  },
  'kill both webhooks': (scene) => {
    const ms = 500 + scene.world.random(40_000);
    for (const index of [0, 1]) scene.world.restartWebhook(index, ms);
    return `both webhooks are killed, for ${ms} ms`;
  },
  'freeze a webhook': (scene) => {
    const webhook = one(scene, scene.world.webhooks);
    const ms = 500 + scene.world.random(40_000);
    webhook?.process.freeze(ms);
    return webhook && `a webhook is frozen for ${ms} ms`;
  },
  'change the topology': (scene) => {
    const topology = one(scene, scene.world.topologies) ?? 'per-network';
    scene.world.startControllers(topology);
    return `the controllers start again with topology ${topology}`;
  },
  'delete a Lease': async (scene) => {
    const lease = one(scene, scene.world.simulator.client.list(LEASES));
    if (lease === undefined) return undefined;
    const name = lease.metadata.name ?? '';
    await scene.world.simulator.client.delete({ ...LEASES, name }).catch(() => undefined);
    return `somebody deletes Lease ${name}`;
  },
  'set a clock': (scene) => {
    const pod = somePod(scene);
    if (pod === undefined) return undefined;
    const hours = scene.world.random(2) === 0 ? -1 : 1;
    pod.agent.wallOffsetMs += hours * 3_600_000;
    return `the clock of ${pod.name} jumps by ${hours} h`;
  },
};
