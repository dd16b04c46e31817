import { describe, expect, it } from 'vitest';
import { type AgentFacts, defaultSecretProblems, servingProblems } from './agent-problems.js';
import { readHostPool } from './host-pool.js';
import { clusterAgent } from './hosts-fixtures.js';

const link = { interfaceIndex: 3, isUp: true, addresses: [] };

function facts(fields: Partial<AgentFacts> = {}, config: Readonly<Record<string, unknown>> = {}): AgentFacts {
  const object = clusterAgent(config, { secretName: 'bmc', secretNamespace: 'ns' });
  return {
    ...{ clusterAgentName: 'rack', clusterAgent: object, reading: readHostPool(object, []), link },
    ...{ socket: { kind: 'serving' }, secret: { username: 'YQ==', password: 'Yg==' } },
    ...fields,
  };
}

describe('what keeps an agent from its task', () => {
  it('is nothing, where all is there', () => {
    expect([...servingProblems(facts()), ...defaultSecretProblems(facts())]).toEqual([]);
  });

  it.each<[fields: Partial<AgentFacts>, config: Readonly<Record<string, unknown>>, problems: string[]]>([
    [
      { clusterAgent: undefined, reading: undefined },
      {},
      ['ClusterAgent rack does not exist: create it, or correct CLUSTERAGENT_NAME'],
    ],
    [
      { link: undefined },
      { subnet: 'x' },
      [
        'ClusterAgent rack: spec.feature.dhcpServerConfig.subnet: "x" is not an IPv4 subnet; write address/prefix length, as in 192.168.0.0/24',
        'interface net1 does not exist here: correct dhcpServerInterface, or attach the network to the agent',
      ],
    ],
    [{ link: { ...link, isUp: false } }, {}, ['interface net1 is down: set it up (ip link set net1 up)']],
    [{ selfNeededFor: 'the API server' }, {}, ['ClusterAgent rack: selfIp is the address of the API server: write another one']],
    [{ socket: { kind: 'failed', message: 'EACCES' } }, {}, ['interface net1 cannot be served: EACCES']],
  ])('%#', (fields, config, problems) => expect(servingProblems(facts(fields, config))).toEqual(problems));

  it('a missing or incomplete Secret prevents no client from getting its address', () => {
    expect(servingProblems(facts({ secret: undefined }))).toEqual([]);
    expect(defaultSecretProblems(facts({ secret: undefined }))).toEqual([
      'ClusterAgent rack: spec.endpoint.secretName: Secret ns/bmc does not exist; create it with username and password, or with tls.key and tls.crt',
    ]);
    expect(defaultSecretProblems(facts({ secret: { username: 'YQ==' } }))).toEqual([
      expect.stringContaining('has username and no password'),
    ]);
  });
});
