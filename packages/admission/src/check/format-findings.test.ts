import { describe, expect, it } from 'vitest';
import type { CheckFinding } from './check-finding.js';
import type { CheckResult } from './check-manifests.js';
import { formatFindings } from './format-findings.js';

const checked = {
  IPPool: 1,
  VirtualMachineNetworkConfig: 0,
  NetworkAttachmentDefinition: 0,
  VirtualMachine: 0,
  WolConfig: 0,
  ClusterAgent: 0,
  HostEndpoint: 0,
  HostOperation: 0,
};
const problem: CheckFinding = {
  file: 'a b/p,1.yaml',
  line: 8,
  column: 11,
  severity: 'problem',
  object: 'IPPool default/net-48',
  field: 'spec.ipv4Config.cidr',
  value: '100%',
  reason: 'wrong-format',
  message: '"100%" is not an IPv4 subnet',
  remedy: 'write address/prefix length\nas in 192.168.48.0/24',
};
const warning: CheckFinding = {
  ...problem,
  severity: 'warning',
  reason: 'no-pool',
  field: '',
  message: 'no pool',
  remedy: 'make one',
};
const result: CheckResult = { findings: [problem, warning], checked, ignored: 2 };

describe('the result of a check', () => {
  it('as text', () => {
    expect(formatFindings('text', { findings: [warning], checked, ignored: 2 })).toBe(
      'warning: a b/p,1.yaml:8:11: IPPool default/net-48: no pool; make one\nchecked: IPPool 1, VirtualMachineNetworkConfig 0, NetworkAttachmentDefinition 0, VirtualMachine 0, WolConfig 0, ClusterAgent 0, HostEndpoint 0, HostOperation 0; 2 of other kinds ignored\n',
    );
  });

  it('as JSON, problems and warnings apart', () => {
    const { severity: _, ...shown } = problem;
    const { severity: __, ...warned } = warning;
    expect(JSON.parse(formatFindings('json', result))).toEqual({
      ok: false,
      problems: [shown],
      warnings: [warned],
      checked,
      ignored: 2,
    });
  });

  it('as SARIF 2.1.0', () => {
    const { version, runs } = JSON.parse(formatFindings('sarif', result));
    expect(version).toBe('2.1.0');
    expect(runs[0].tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(['no-pool', 'wrong-format']);
    expect(runs[0].results.map(({ level }: { level: string }) => level)).toEqual(['error', 'warning']);
    expect(runs[0].results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'a%20b/p%2C1.yaml' },
      region: { startLine: 8, startColumn: 11 },
    });
  });

  it('as commands of GitHub, escaped', () => {
    expect(formatFindings('github', result)).toBe(
      '::error file=a b/p%2C1.yaml,line=8,col=11,title=wrong-format::IPPool default/net-48: spec.ipv4Config.cidr: "100%25" is not an IPv4 subnet; write address/prefix length%0Aas in 192.168.48.0/24\n::warning file=a b/p%2C1.yaml,line=8,col=11,title=no-pool::IPPool default/net-48: no pool; make one\n',
    );
  });

  it('without findings: nothing for GitHub, no result in SARIF', () => {
    const none = { findings: [], checked, ignored: 0 };
    expect(formatFindings('github', none)).toBe('');
    expect(JSON.parse(formatFindings('sarif', none)).runs[0].results).toEqual([]);
    expect(JSON.parse(formatFindings('json', none)).ok).toBe(true);
  });
});
