/** Pods of a DaemonSet on the networks of their nodes: addresses, packets, Secrets as files, probes. */
import { existsSync } from 'node:fs';
import { readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContainerOfPod, Lab, LabCluster, type LabProcess, type Machine, startInPod, waitFor } from '../src/index.js';

const NAMESPACE = 'vm-dhcp-system';
const NODES = ['node-1', 'node-2', 'node-3'];
const KEY = `${NAMESPACE}/listener`;

/** Answers probes, prints datagrams and what it reads in its Secret; `PUT /ready/false` has it answer 503. */
const PROGRAM = `
const { createSocket } = require('node:dgram');
const { readFileSync, watch } = require('node:fs');
const { createServer } = require('node:http');
const [folder, address, port] = process.argv.slice(1);
const states = { ready: true, alive: true };
const print = (event, more) => console.log(JSON.stringify({ event, ...more }));
const read = () => print('secret', { text: readFileSync(folder + '/greeting', 'utf8') });
read();
watch(folder, (_, name) => { if (name === '..data') read(); });
print('hosts', { text: readFileSync('/etc/hosts', 'utf8') });
const socket = createSocket('udp4').on('message', (message, { address }) => print('datagram', { text: String(message), from: address }));
socket.bind(9999, '0.0.0.0');
createServer((request, response) => {
  const [, name, value] = request.url.split('/');
  if (request.method === 'PUT') states[name] = value === 'true';
  response.writeHead(request.method === 'PUT' || states[name] ? 200 : 503).end();
}).listen(Number(port), address);
process.on('SIGTERM', () => process.exit(0));
`;

let lab: Lab;
let cluster: LabCluster;
let outside: Machine;

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork('br-lan', '192.168.77.1/24');
  outside = lab.addMachine('outside', { network: 'br-lan', macAddress: '02:00:00:00:77:01' });
  outside.ip('address', 'add', '192.168.77.50/24', 'dev', 'eth0');
  cluster = await LabCluster.start(lab, {
    networks: {},
    nodes: NODES,
    nodeCards: { eth1: 'br-lan' },
    hosts: { 'manager.vm-dhcp-system.svc': '10.99.255.1' },
    startContainer: startProgram,
  });
  for (const [index, name] of NODES.entries())
    cluster.nodes.get(name)?.machine.ip('address', 'add', `192.168.77.${index + 2}/24`, 'dev', 'eth1');
  await cluster.access.create(secret('hello'));
  await cluster.access.create(DAEMON_SET);
});

afterAll(async () => {
  await cluster?.stop();
  await lab?.dispose();
});

function startProgram(container: ContainerOfPod): LabProcess {
  return startInPod(container, [process.execPath, '-e', PROGRAM, '--', ...container.args]);
}

function secret(greeting: string) {
  const metadata = { namespace: NAMESPACE, name: 'greetings' };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data: { greeting: Buffer.from(greeting).toString('base64') } };
}

const probe = (path: string, times: object) => ({ httpGet: { path, port: 'http' }, periodSeconds: 1, ...times });

const DAEMON_SET = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { namespace: NAMESPACE, name: 'listener' },
  spec: {
    selector: { matchLabels: { app: 'listener' } },
    template: {
      metadata: { labels: { app: 'listener' } },
      spec: {
        hostNetwork: true,
        automountServiceAccountToken: false,
        volumes: [{ name: 'greetings', secret: { secretName: 'greetings', defaultMode: 0o440 } }],
        containers: [
          {
            name: 'listener',
            image: 'listener:lab',
            args: ['/etc/listener/greetings', '$(POD_IP)', '18420'],
            env: [
              { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
              { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
              { name: 'GREETING', valueFrom: { secretKeyRef: { name: 'greetings', key: 'greeting' } } },
            ],
            ports: [{ name: 'http', containerPort: 18_420 }],
            // The probe of liveness begins after it, however long a busy machine takes to start the container.
            startupProbe: probe('/alive', { failureThreshold: 120 }),
            readinessProbe: probe('/ready', { failureThreshold: 2 }),
            // A busy machine does not fail it.
            livenessProbe: probe('/alive', { failureThreshold: 2, timeoutSeconds: 20 }),
            volumeMounts: [{ name: 'greetings', mountPath: '/etc/listener/greetings', readOnly: true }],
          },
        ],
      },
    },
  },
} as const;

const readyPods = (count: number) =>
  cluster.access.waitForObject('DaemonSet', KEY, ({ status }) => readField(status, 'numberReady') === count);

const container = (status: unknown) =>
  (readField(status, 'containerStatuses') as readonly { restartCount: number; ready: boolean }[] | undefined)?.[0];

interface Line {
  readonly event: string;
  readonly text: string;
  readonly from?: string;
}

/** What each pod has printed about an event, by its node. */
function printed(event: string): Readonly<Record<string, readonly Line[]>> {
  const pods = [...cluster.nodePods.values()].map(({ node, process }) => {
    const lines = (process?.lines ?? []).map((line) => JSON.parse(line) as Line);
    return [node.machine.name, lines.filter((line) => line.event === event)] as const;
  });
  return Object.fromEntries(pods);
}

describe('pods of a DaemonSet with hostNetwork', () => {
  it('become ready on each node, with its address', async () => {
    await readyPods(3);
    const pods = (await cluster.access.list('Pod')).filter(({ metadata }) => metadata.labels?.['app'] === 'listener');
    const places = pods.map(({ spec, status }) => [readField(spec, 'nodeName'), readField(status, 'podIP')]);
    expect(new Map(places as [string, string][])).toEqual(
      new Map([...cluster.nodes].map(([name, { address }]) => [name, address])),
    );
    for (const { address, machine } of cluster.nodes.values()) expect(machine.addresses()).toEqual([`${address}/16`]);
  });

  it('receive what is broadcast in a network of the nodes', async () => {
    const sent = outside.start(process.execPath, ['-e', SEND, 'good morning']);
    expect(await sent.ended()).toMatchObject({ code: 0 });
    await waitFor('three pods to receive it', () => NODES.every((node) => printed('datagram')[node]?.length === 1));
    expect(printed('datagram')['node-2']).toEqual([{ event: 'datagram', text: 'good morning', from: '192.168.77.50' }]);
  });

  it('have the Secret as a file that changes with it, and names of Services; the host has neither', async () => {
    expect(printed('secret')['node-1']).toEqual([{ event: 'secret', text: 'hello' }]);
    expect(existsSync('/etc/listener')).toBe(false);
    expect(printed('hosts')['node-1']?.[0]?.text).toContain('10.99.255.1 manager.vm-dhcp-system.svc');
    await cluster.access.patch('Secret', `${NAMESPACE}/greetings`, { data: secret('good night').data });
    await waitFor('three pods to read it', () =>
      NODES.every((node) => printed('secret')[node]?.some(({ text }) => text === 'good night')),
    );
  });

  it('count as ready by their probe', async () => {
    const { address } = cluster.nodes.get('node-1') ?? { address: '' };
    const put = (state: string) => fetch(`http://${address}:18420/ready/${state}`, { method: 'PUT' });
    await put('false');
    await readyPods(2);
    await put('true');
    await readyPods(3);
  });

  it('are started again when they fail the probe of liveness', async () => {
    const before = cluster.nodePods.size;
    const [pod] = [...cluster.nodePods.values()].filter(({ node }) => node.machine.name === 'node-2');
    await fetch(`http://${pod?.node.address}:18420/alive/false`, { method: 'PUT' });
    await waitFor('its end', () => pod?.process?.hasEnded);
    // The DaemonSet counts later than the node reports: its count of three may be one from before the end.
    await cluster.access.waitForObject('Pod', `${NAMESPACE}/${pod?.name}`, ({ status }) => {
      const { restartCount, ready } = container(status) ?? {};
      return restartCount === 1 && ready === true;
    });
    await readyPods(3);
    expect(cluster.nodePods.size).toBe(before);
  });

  it('end with their DaemonSet; the nodes stay', async () => {
    await cluster.access.delete('DaemonSet', KEY);
    await waitFor('the pods to end', () => cluster.nodePods.size === 0);
    expect(cluster.nodes.get('node-3')?.machine.addresses()).toHaveLength(1);
  });
});

/** Broadcasts its argument. */
const SEND = `
const socket = require('node:dgram').createSocket('udp4');
socket.bind(() => { socket.setBroadcast(true); socket.send(process.argv[1], 9999, '192.168.77.255', () => socket.close()); });
`;
