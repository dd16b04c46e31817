import { describe, expect, it } from 'vitest';
import { parseObject } from './index.js';

const poolWith = (ipv4Config: Record<string, unknown>, others: Record<string, unknown> = {}) => ({
  apiVersion: 'network.harvesterhci.io/v1alpha1',
  kind: 'IPPool',
  metadata: { name: 'net-48' },
  spec: {
    networkName: 'default/net-48',
    ipv4Config: {
      cidr: '192.168.48.0/24',
      serverIP: '192.168.48.2',
      pool: { start: '192.168.48.10', end: '192.168.48.99' },
      ...ipv4Config,
    },
    ...others,
  },
});

function sentencesOf(value: unknown): string[] {
  const parsed = parseObject(value);
  return parsed.ok ? [] : parsed.problems.map(({ path, message, remedy }) => `${path.join('.')}: ${message}; ${remedy}`);
}

describe('each problem is a sentence: the actual value, the expected one, what to write', () => {
  it.each<[what: string, value: unknown, sentences: string[]]>([
    [
      'a number for text',
      poolWith({ cidr: 48 }),
      ['spec.ipv4Config.cidr: 48 is a number, not text; put it in quotes, as in "48"'],
    ],
    [
      'true for text',
      poolWith({ domainName: true }),
      ['spec.ipv4Config.domainName: true is a true-or-false value, not text; put it in quotes, as in "true"'],
    ],
    ['a list for text', poolWith({ serverIP: ['192.168.48.2'] }), ['spec.ipv4Config.serverIP: is a list, not text; write text']],
    ['nothing for text', poolWith({ serverIP: null }), ['spec.ipv4Config.serverIP: is empty; write text, or remove the field']],
    [
      'a missing text',
      { ...poolWith({}), spec: { ipv4Config: poolWith({}).spec.ipv4Config } },
      ['spec.networkName: is missing; write text'],
    ],
    [
      'text for a list',
      poolWith({ dns: '1.1.1.1' }),
      ['spec.ipv4Config.dns: "1.1.1.1" is text, not a list; write a list, each entry on a line that begins with "- "'],
    ],
    [
      'text for fields',
      poolWith({ pool: 'all' }),
      ['spec.ipv4Config.pool: "all" is text, not a group of fields; write its fields below it, indented'],
    ],
    [
      'text for true or false',
      poolWith({}, { paused: 'yes' }),
      ['spec.paused: "yes" is text, not true or false; write true or false, without quotes'],
    ],
    [
      'a broken number',
      poolWith({ leaseTime: 1.5 }),
      ['spec.ipv4Config.leaseTime: 1.5 is not a whole number; write a whole number, without quotes'],
    ],
    [
      'text for a number',
      poolWith({ leaseTime: '600' }),
      ['spec.ipv4Config.leaseTime: "600" is text, not a number; write a number, without quotes'],
    ],
    [
      'a duration for a number of seconds',
      poolWith({ leaseTime: '10m' }),
      ['spec.ipv4Config.leaseTime: "10m" is text, not a number of seconds; write 600'],
    ],
    [
      'a duration in words',
      poolWith({ leaseTime: '7 days' }),
      ['spec.ipv4Config.leaseTime: "7 days" is text, not a number of seconds; write 604800'],
    ],
    ['a small number', poolWith({ mtu: 5 }), ['spec.ipv4Config.mtu: 5 is too small; write at least 68']],
    ['a large number', poolWith({ mtu: 70_000 }), ['spec.ipv4Config.mtu: 70000 is too large; write at most 65535']],
    [
      'a long list',
      poolWith({ dns: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] }),
      ['spec.ipv4Config.dns: the list of 4 entries is too long; list at most 3'],
    ],
    [
      'a long text',
      poolWith({ domainName: 'x'.repeat(300) }),
      ['spec.ipv4Config.domainName: the text of 300 characters is too long; write at most 253 characters'],
    ],
    [
      'a value of a closed list',
      poolWith({}, { onRogueServer: 'stop' }),
      ['spec.onRogueServer: "stop" is not allowed here; write Warn or Stop'],
    ],
    [
      'a wrong version',
      { ...poolWith({}), apiVersion: 'v1' },
      ['apiVersion: "v1" is not allowed here; write network.harvesterhci.io/v1alpha1'],
    ],
    [
      'a wrong format',
      poolWith({ pool: { start: 'here', end: '192.168.48.99' } }),
      ['spec.ipv4Config.pool.start: "here" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10'],
    ],
    [
      'everything at once',
      { ...poolWith({ cidr: 48, dns: 'x', mtu: 5, staticRoutes: [{ destination: '10.0.0.0/8' }] }), metadata: {} },
      [
        'metadata.name: is missing; write text',
        'spec.ipv4Config.cidr: 48 is a number, not text; put it in quotes, as in "48"',
        'spec.ipv4Config.dns: "x" is text, not a list; write a list, each entry on a line that begins with "- "',
        'spec.ipv4Config.mtu: 5 is too small; write at least 68',
        'spec.ipv4Config.staticRoutes.0.gateway: is missing; write text',
      ],
    ],
  ])('%s', (_, value, sentences) => expect(sentencesOf(value)).toEqual(sentences));

  it('a message is never that of the library, and never long', () => {
    const long = 'x'.repeat(100_000);
    for (const sentence of sentencesOf(poolWith({ cidr: long, mtu: long, dns: long, router: [long] }, { networkName: long }))) {
      expect(sentence).not.toMatch(/Invalid|expected|received|Too (big|small)/);
      expect(sentence.length).toBeLessThan(300);
    }
  });
});

const many = (count: number, contentOf: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, contentOf(index)]));

describe('an object with thousands of wrong fields', () => {
  it('has the first hundred unknown fields named', () => {
    const { unknownFields } = parseObject(poolWith(many(200_000, () => 1)));
    expect(unknownFields.map(({ path }) => path.at(-1))).toEqual(Object.keys(many(100, () => 1)));
  });

  it('has the first thousand problems named', () => {
    const parsed = parseObject({ ...poolWith({}), metadata: { name: 'net-48', labels: many(50_000, (index) => index) } });
    expect(parsed.ok ? [] : parsed.problems.map(({ path }) => path.at(-1))).toEqual(Object.keys(many(1_000, () => 1)));
  });

  it('is repaired with a single copy', () => {
    const labels = {
      ...many(100_000, () => 'x'),
      ...Object.fromEntries(Array.from({ length: 900 }, (_, one) => [`n${one}`, one])),
    };
    const parsed = parseObject({ ...poolWith({}), metadata: { name: 'net-48', labels } });
    expect(!parsed.ok && parsed.rest?.metadata.labels?.['n899']).toBe('');
    expect(labels['n899']).toBe(899);
  });

  it('is repaired without the list that is too long', () => {
    const parsed = parseObject(poolWith({ staticRoutes: Array.from({ length: 31 }, () => ({})), mtu: 1500 }));
    const { rest } = parsed as { rest?: { spec: { ipv4Config: object } } };
    expect(rest?.spec.ipv4Config).toMatchObject({ mtu: 1500 });
    expect(rest?.spec.ipv4Config).not.toHaveProperty('staticRoutes');
  });
});

describe('an object with wrong fields', () => {
  it('is repaired so that every value has the right type, for finding other problems', () => {
    const parsed = parseObject(poolWith({ cidr: 48, domainName: 'not a name', mtu: 'x', reservations: [3] }, { paused: 'no' }));
    expect(!parsed.ok && parsed.rest).toMatchObject({
      spec: { networkName: 'default/net-48', ipv4Config: { cidr: '', serverIP: '192.168.48.2', domainName: 'not a name' } },
    });
    const { rest } = parsed as { rest?: { spec: { ipv4Config: object } } };
    expect(Object.keys(rest?.spec.ipv4Config ?? {})).not.toContain('mtu');
    expect(Object.keys(rest?.spec.ipv4Config ?? {})).not.toContain('reservations');
  });

  it.each([
    ['spec.networkname', poolWith({}, { networkname: 'a' }), 'networkName'],
    ['spec.ipv4config', poolWith({}, { ipv4config: {} }), 'ipv4Config'],
    ['spec.ipv4Config.leasTime', poolWith({ leasTime: 5 }), 'leaseTime'],
    ['spec.ipv4Config.lease_time', poolWith({ lease_time: 5 }), 'leaseTime'],
    ['spec.ipv4Config.mut', poolWith({ mut: 5 }), undefined],
    ['spec.ipv4Config.mtuu', poolWith({ mtuu: 5 }), 'mtu'],
    ['spec.ipv4Config.colour', poolWith({ colour: 5 }), undefined],
    ['spec.ipv4Config.pool.ends', poolWith({ pool: { start: 'x', ends: 'y' } }), 'end'],
    ['spec.ipv4Config.reservations.0.ipAdress', poolWith({ reservations: [{ ipAdress: 'y' }] }), 'ipAddress'],
    ['status.condition', { ...poolWith({}), status: { condition: [] } }, undefined],
  ])('reports %s as unknown, with a suggestion', (path, value, suggestion) => {
    const [unknown, ...others] = parseObject(value).unknownFields;
    expect(others).toEqual([]);
    expect(unknown?.path.join('.')).toBe(path);
    expect(unknown?.suggestion).toBe(suggestion);
    expect(unknown?.message).toBe('is not a known field');
    expect(unknown?.remedy).toBe(suggestion === undefined ? 'correct its name or remove it' : `did you mean ${suggestion}?`);
  });

  it('may have any metadata and labels', () => {
    const value = { ...poolWith({}), metadata: { name: 'a', managedFields: [], labels: { label: 'x' }, selflink: '' } };
    expect(parseObject(value)).toMatchObject({ ok: true, unknownFields: [] });
  });
});
