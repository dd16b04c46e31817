import { readFileSync } from 'node:fs';
import { isRecord } from '@vmdhcp/kube-runtime';
import { toAgentDeployment } from '@vmdhcp/reconciler';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type AgentOptions, agentOptions } from './agent-options.js';
import { toAgents } from './to-agents.js';

const MANIFEST = new URL('../../../../manifests/vmdhcp-unified.yaml', import.meta.url);

/** The defaults that an API server fills into a Deployment. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  apiVersion: 'v1',
  dnsPolicy: 'ClusterFirst',
  imagePullPolicy: 'IfNotPresent',
  progressDeadlineSeconds: 600,
  protocol: 'TCP',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  scheme: 'HTTP',
  securityContext: {},
  successThreshold: 1,
  terminationMessagePath: '/dev/termination-log',
  timeoutSeconds: 1,
};
/** Fields that differ for each group, or are a second name for something. */
const OWN = [
  'name',
  'image',
  'selector',
  'labels',
  'labelSelector',
  'annotations',
  'serviceAccount',
  'serviceAccountName',
  'affinity',
];
const OWN_VARIABLES = ['AGENT_LEASE_NAME', 'AGENT_NETWORK_CONFIGS', 'IPPOOL_REFS_JSON', 'VM_DHCP_AGENT_NAME'];

/** How the pods of a Deployment run, without its names and without defaults. */
function essence(value: unknown, path: readonly string[] = []): unknown {
  if (Array.isArray(value)) {
    return value
      .filter((item) => !(path.at(-1) === 'env' && isRecord(item) && OWN_VARIABLES.includes(String(item['name']))))
      .map((item) => essence(item, [...path, '[]']));
  }
  if (!isRecord(value)) return value;
  const isNamed = ['env', 'ports'].includes(path.at(-2) ?? '');
  const entries = Object.entries(value).filter(([key, of]) => {
    if (of === undefined || (OWN.includes(key) && !isNamed)) return false;
    return JSON.stringify(DEFAULTS[key]) !== JSON.stringify(of);
  });
  return Object.fromEntries(entries.map(([key, of]) => [key, essence(of, [...path, key])]));
}

function generated() {
  const command = new Command();
  for (const option of agentOptions()) command.addOption(option);
  const options = command.parse(['--image', 'agent:v1'], { from: 'user' }).opts<AgentOptions>();
  const settings = toAgents(options)?.pods;
  if (settings === undefined) throw new Error('has no agents');
  return toAgentDeployment({ group: 'group', placement: undefined, pools: [], image: settings.image }, settings);
}

interface ManifestObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

describe('manifests/vmdhcp-unified.yaml', () => {
  const documents = parseAllDocuments(readFileSync(MANIFEST, 'utf8')).map((document) => document.toJS() as ManifestObject);
  const isAgents = ({ kind, metadata }: ManifestObject) => kind === 'Deployment' && metadata.name === 'vm-dhcp-controller-agent';
  const agents: Pick<ManifestObject, 'spec'> = documents.find(isAgents) ?? { spec: {} };

  it('defines its pods like the controller defines those that it creates', () => {
    expect(essence(agents.spec)).toEqual(essence(generated().spec));
  });

  it('spreads its own pods', () => {
    expect(agents.spec).toMatchObject({
      selector: { matchLabels: expect.anything() as object },
      template: { spec: { topologySpreadConstraints: [{ labelSelector: agents.spec['selector'] }] } },
    });
  });
});
