import { factsOfObjects } from '@vmdhcp/reconciler';
import { CertificateKeeper, DEFAULT_TIMES } from '@vmdhcp/service-certificates';
import { certificateIssuer, certificateReader } from '@vmdhcp/service-certificates/node';
import { expect, it } from 'vitest';
import type { AdmissionReviewer } from './admission-server.js';
import { createClusterReviewer } from './cluster-reviewer.js';
import { warmUp } from './warm-up.js';

async function newCertificate() {
  const stored = new Map<string, { readonly resourceVersion: string; readonly data: Readonly<Record<string, string>> }>();
  const keeper = new CertificateKeeper({
    secrets: {
      read: async (name) => stored.get(name) ?? { resourceVersion: undefined, data: {} },
      write: async (name, _before, data) => {
        stored.set(name, { resourceVersion: String(stored.size + 1), data });
        return 'written';
      },
    },
    reader: certificateReader,
    issuer: certificateIssuer,
    authoritySecret: 'ca',
    servingSecret: 'tls',
    authorityName: 'test',
    names: ['webhook.system.svc'],
    times: DEFAULT_TIMES,
  });
  return (await keeper.keep(Date.now())).pair;
}

it('uses the path of a decision over TLS, with all kinds of requests, before the first real one', async () => {
  const decided = new Map<string, number>();
  const rules = createClusterReviewer({
    facts: factsOfObjects([]),
    virtualMachines: { onProblem: 'Warn' },
    controllerUser: 'none',
    refresh: async () => undefined,
  });
  const review: AdmissionReviewer = async (path, received) => {
    const answer = await rules(path, received);
    const outcome = `${path} ${received.resource} ${received.request.operation} ${answer.response.allowed}`;
    decided.set(outcome, (decided.get(outcome) ?? 0) + 1);
    return answer;
  };
  const most = { workMs: 60_000, wallMs: 60_000 };
  await warmUp({ certificate: await newCertificate(), review, requests: 70, most });
  expect(Object.fromEntries(decided)).toEqual({
    'validation virtualmachines CREATE true': 30,
    'validation ippools CREATE false': 10,
    'validation ippools UPDATE true': 10,
    'defaulting ippools CREATE true': 10,
    'validation virtualmachinenetworkconfigs CREATE false': 10,
  });
});

it.each([
  ['has used its share of a processor', { workMs: 50, wallMs: 600_000 }],
  ['has taken its time', { workMs: 600_000, wallMs: 50 }],
])('ends when it %s, however many requests are left', async (_, most) => {
  const review: AdmissionReviewer = async () => ({ response: { uid: 'warm-up', allowed: true } }) as never;
  await warmUp({ certificate: await newCertificate(), review, requests: Infinity, most });
});

it('ends in time if a decision never comes', async () => {
  const review: AdmissionReviewer = () => new Promise(() => {});
  await warmUp({ certificate: await newCertificate(), review, most: { workMs: 60_000, wallMs: 50 } });
});

it('sends nothing if there is no time', async () => {
  let asked = 0;
  const review: AdmissionReviewer = async () => {
    asked++;
    throw new Error('asked');
  };
  await warmUp({ certificate: await newCertificate(), review, most: { workMs: 0, wallMs: 0 } });
  expect(asked).toBe(0);
});
