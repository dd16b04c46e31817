/** Checks that `vmdhcp-agent wol` accepts the command line of the DaemonSet of a WolConfig. */
import { readList } from '@vmdhcp/kube-runtime';
import { planWakeAgents, readWolConfig } from '@vmdhcp/wake-on-lan/controller';
import { describe, expect, it } from 'vitest';
import { wolCommand } from './wol.js';

/** The options of the agents of a WolConfig, as the command reads them in a pod. */
function optionsOf(spec: Readonly<Record<string, unknown>>, tlsSecret: string | undefined): Readonly<Record<string, unknown>> {
  const reading = readWolConfig({ metadata: { name: 'office', uid: 'uid' }, spec });
  if (!reading.ok) throw new Error(reading.problems.map(({ message }) => message).join('; '));
  const agents = { namespace: 'agents', image: 'agent:1', imagePullSecrets: [], manager: 'manager.agents.svc:9090', tlsSecret };
  const [write] = planWakeAgents({ configs: [reading.config], daemonSets: [] }, agents).writes;
  const [container] = readList(write?.object.spec, 'template', 'spec', 'containers');
  const [name, ...args] = readList(container, 'args').map(String);
  expect(name).toBe('wol');
  const inPod = args.map((arg) => arg.replace('$(POD_IP)', '10.0.0.1').replace('$(NODE_NAME)', 'node-1'));
  const command = wolCommand().exitOverride();
  const { operands, unknown } = command.parseOptions(inPod);
  expect([operands, unknown]).toEqual([[], []]);
  return command.opts();
}

describe('the command line of a DaemonSet', () => {
  it('is valid for a WolConfig without settings', () => {
    expect(optionsOf({}, 'tls')).toMatchObject({
      manager: 'manager.agents.svc:9090',
      tlsDir: '/etc/vmdhcp/wake-on-lan',
      nodeName: 'node-1',
      port: [9],
      interface: [],
      http: { host: '10.0.0.1', port: 18_420 },
    });
  });

  it('is valid for a WolConfig with every setting of listeners, in clear text', () => {
    const spec = { wolPorts: [7, 4000], agent: { interfaces: ['mgmt-*', '!*.100'], promiscuous: true, frames: false } };
    expect(optionsOf(spec, undefined)).toMatchObject({
      clearText: true,
      port: [7, 4000],
      interface: ['mgmt-*', '!*.100'],
      promiscuous: true,
      frames: false,
    });
  });
});
