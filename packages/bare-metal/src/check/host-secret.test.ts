import { describe, expect, it } from 'vitest';
import { describeHostProblem } from '../object/problem.js';
import { hostSecretProblems, secretContent } from './host-secret.js';

const named = { path: ['spec', 'secretName'], namespace: 'default', name: 'bmc' };
const PASSWORD = { username: 'cm9vdA==', password: 'c2VjcmV0' };
const CERTIFICATE = { 'tls.key': 'a2V5', 'tls.crt': new Uint8Array([1]) };

describe('the Secret of a host', () => {
  it.each<[what: string, data: Record<string, unknown> | undefined, problems: string[]]>([
    ['user and password', PASSWORD, []],
    ['a client certificate', CERTIFICATE, []],
    ['both', { ...PASSWORD, ...CERTIFICATE, 'ca.crt': 'Y2E=' }, []],
    [
      'no Secret',
      undefined,
      ['Secret default/bmc does not exist; create it with username and password, or with tls.key and tls.crt'],
    ],
    [
      'an empty Secret',
      {},
      ['Secret default/bmc has neither username and password nor tls.key and tls.crt; add one of the two pairs'],
    ],
    ['an empty password', { ...PASSWORD, password: '' }, ['Secret default/bmc has username and no password; add password']],
    [
      'halves of both',
      { password: 'x', 'tls.key': 'x' },
      [
        'Secret default/bmc has password and no username; add username',
        'Secret default/bmc has tls.key and no tls.crt; add tls.crt',
      ],
    ],
    [
      'a pair, and half of the other one',
      { ...PASSWORD, 'tls.crt': 'x' },
      ['Secret default/bmc has tls.crt and no tls.key; add tls.key'],
    ],
    [
      'keys of a prototype',
      Object.create(PASSWORD) as Record<string, unknown>,
      ['Secret default/bmc has neither username and password nor tls.key and tls.crt; add one of the two pairs'],
    ],
  ])('%s', (_, data, problems) => {
    const found = hostSecretProblems(named, data).map(describeHostProblem);
    expect(found).toEqual(problems.map((text) => `spec.secretName: ${text}`));
    expect(found.join()).not.toMatch(/cm9vdA|c2VjcmV0/);
  });

  it('has these contents', () => {
    expect(secretContent({ ...PASSWORD, 'ca.crt': 'Y2E=' })).toEqual({
      hasPassword: true,
      hasCertificate: false,
      hasAuthority: true,
    });
    expect(secretContent({ ...CERTIFICATE, username: 'x' })).toEqual({
      hasPassword: false,
      hasCertificate: true,
      hasAuthority: false,
    });
  });
});
